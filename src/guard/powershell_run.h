struct guard; void powershell_run(struct guard *g, struct ps_node *tree, bool broken);
