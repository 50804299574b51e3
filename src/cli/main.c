#include <stdio.h>
#include "cordon.h"
int main(void){ puts(cordon_version()); return 0; }
