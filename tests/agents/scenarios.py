# SPDX-License-Identifier: Apache-2.0
"""
What is promised about real agents, one function a promise. Each shows first, in folders of their own and without
Cordon, that the agent does what the promise is about; then that with Cordon it does not, or still does.
"""
import json
import pathlib
import shutil
import statistics
import subprocess
import time

from lab import LABELS, Lab

SCENARIOS = []  # (name, agents, agents of the gate, function)
FOUR = ('claude', 'codex', 'gemini', 'qwen')
FIVE = (*FOUR, 'opencode')
THREE = ('claude', 'codex', 'gemini')


def scenario(*agents, gate=()):
    def add(function):
        SCENARIOS.append((function.__name__.replace('_', ' '), agents, gate, function))
        return function
    return add


class Bad(Exception):
    pass


def need(condition, *words):
    if not condition:
        raise Bad(' | '.join(' '.join(str(w).split())[:500] for w in words))


OPEN = [{'shell': 'xdg-open https://example.com'}]


def opened(lab):
    return (lab.base / 'opened').exists()


def control(options, agent, name, steps, effect, **more):
    """Without Cordon the effect is there: else nothing is shown by its absence."""
    lab = Lab(options, agent, f'{name}-control')
    lab.play(steps(lab), **more)
    need(effect(lab), 'control: the effect is missing without cordon', lab.results(), lab.done.stderr[-300:])


def refused(options, agent, name, steps, effect, words, setup=Lab.install, **more):
    control(options, agent, name, steps, effect, **more)
    lab = Lab(options, agent, name)
    setup(lab)
    lab.play(steps(lab), **more)
    need(not effect(lab), 'it happened', lab.results(), lab.done.stderr[-300:])
    need(words in ' '.join(lab.results()), f'the model did not read "{words}"', lab.results(), lab.done.stderr[-300:])
    return lab


def kept(options, agent, name, steps, effect, setup=Lab.install, **more):
    """It happens with Cordon as it does without."""
    control(options, agent, name, steps, effect, **more)
    lab = Lab(options, agent, name)
    setup(lab)
    lab.play(steps(lab), **more)
    need(effect(lab), 'it did not happen', lab.results(), lab.done.stderr[-300:])
    return lab


def no_data(lab):
    return not (lab.outside / 'data/file').exists()


def writes(path):
    return lambda lab: [{'write': {'path': str(path(lab)), 'content': 'planted'}}]


def planted(path):
    return lambda lab: path(lab).exists() and 'planted' in path(lab).read_text()


# ---- the hook ----

@scenario(*FIVE, 'copilot', gate=THREE)
def a_refused_command(o, agent):
    refused(o, agent, 'open', lambda lab: OPEN, opened, 'launch.url')


@scenario(*FIVE, 'copilot')
def a_harmless_command(o, agent):
    kept(o, agent, 'harmless', lambda lab: [{'shell': 'echo harmless > made.txt; cat made.txt'}],
         lambda lab: (lab.proj / 'made.txt').exists() and 'harmless' in lab.read())


@scenario(*FIVE)
def in_the_settings_of_the_home_folder(o, agent):
    refused(o, agent, 'home', lambda lab: OPEN, opened, 'launch.url', setup=lambda lab: lab.install(project=False))


def planted_by_shell(agent):
    """A file below the folder of the agent's settings, which no agent needs."""
    folder = {'claude': '.claude', 'codex': '.codex', 'gemini': '.gemini', 'qwen': '.qwen', 'opencode': '.opencode'}[agent]
    return folder, planted(lambda lab: lab.proj / folder / 'planted.json')


@scenario(*FIVE)
def a_command_that_writes_below_the_agents_settings(o, agent):
    folder, effect = planted_by_shell(agent)
    refused(o, agent, 'shellplant', lambda lab: [{'shell': f'mkdir -p {folder}; echo planted > {folder}/planted.json'}],
            effect, 'protected.name')


@scenario(*FIVE)
def a_command_that_takes_the_hook_away(o, agent):
    """Agents write into their settings themselves: what counts is the hook in them."""
    def has_hook(lab):
        return lab.settings().exists() and 'cordon' in lab.settings().read_text()
    lab = Lab(o, agent, 'unhook')
    lab.install()
    lab.play([{'shell': f'{o.cordon} hook --remove {agent} --project; rm -f {lab.settings()}'}])
    need(has_hook(lab), 'the hook is gone', lab.results())
    need('protected.name' in lab.read() or 'launch.agent' in lab.read(), lab.results())
    need(lab.cordon('hook', '--remove', agent, '--project').returncode == 0 and not has_hook(lab), 'control: nothing was removed')


def named_folder(agent, path, command):
    """A command in the folder that the model names, as this agent calls it."""
    name = {'gemini': 'dir_path', 'qwen': 'directory'}[agent]
    more = {'qwen': {'is_background': False}}.get(agent, {})
    return [{'tool': 'run_shell_command', 'input': {'command': command, 'description': 'd', name: str(path), **more}}]


@scenario('gemini', 'qwen')
def a_folder_outside_that_the_model_names(o, agent):
    """Gemini CLI and Qwen Code have limits of their own; what they let through is judged in that folder."""
    steps = [lambda lab: named_folder(agent, lab.outside, 'rm -rf data'), lambda lab: named_folder(agent, '../outside', 'rm -rf data')]
    said = []
    for n, step in enumerate(steps):
        lab = Lab(o, agent, f'named{n}-control')
        lab.play(step(lab))
        own = not no_data(lab)
        said.append(f'its own limit: {" ".join(lab.read().split())[:120]}' if own else 'it has no limit')
        lab = Lab(o, agent, f'named{n}')
        lab.install()
        lab.play(step(lab))
        need(not no_data(lab), 'it happened', lab.results())
        need(own or 'destroy.outside' in lab.read(), lab.results())
    return '; '.join(said)


@scenario('gemini', 'qwen')
def a_folder_of_settings_that_the_model_names(o, agent):
    folder, effect = planted_by_shell(agent)

    def steps(lab):
        (lab.proj / folder).mkdir(exist_ok=True)
        lab.own()
        return named_folder(agent, lab.proj / folder, 'echo planted > planted.json')
    refused(o, agent, 'namedsettings', steps, effect, 'protected.name')


@scenario('codex', gate=('codex',))
def a_hook_that_codex_does_not_trust_is_told(o, agent):
    """Codex skips it and prints nothing: install and doctor say so, and both know when it is trusted."""
    lab = Lab(o, agent, 'trust')
    said = lab.install().stdout
    need('until you trust it' in said, said)
    lab.flags = []
    lab.play(OPEN)
    need(opened(lab), 'control: an untrusted hook ran', lab.results())
    doctor = lab.cordon('doctor').stdout
    need('is not trusted: Codex skips it' in doctor, doctor)
    (lab.base / 'opened').unlink()
    lab.trust_hook()
    lab.play(OPEN)
    need(not opened(lab) and 'launch.url' in lab.read(), 'a trusted hook did not run', lab.results(), lab.done.stderr[-300:])
    doctor = lab.cordon('doctor').stdout
    need('is trusted' in doctor and 'Codex skips it' not in doctor, doctor)


@scenario('gemini')
def a_project_that_gemini_does_not_trust(o, agent):
    """Settings of the project are ignored there, which install says; those of the home folder are not."""
    lab = Lab(o, agent, 'untrusted')
    lab.trust = False
    said = lab.install().stdout
    need('not trusted' in said and 'without --project' in said, said)
    lab.play(OPEN)
    need(opened(lab), 'control: the hook of an untrusted project ran', lab.results())
    (lab.base / 'opened').unlink()
    lab.install(project=False)
    lab.play(OPEN)
    need(not opened(lab) and 'launch.url' in lab.read(), lab.results())


@scenario('claude', 'codex', 'gemini', 'opencode')
def deleting_outside_the_project(o, agent):
    # Codex itself refuses "rm -rf".
    refused(o, agent, 'delete', lambda lab: [{'shell': f'find {lab.outside}/data -delete'}], no_data, 'destroy')


@scenario('claude', 'codex', 'qwen', 'opencode')
def a_hook_of_git_by_the_agents_own_editor(o, agent):
    path = lambda lab: lab.proj / '.git/hooks/pre-commit'
    refused(o, agent, 'githook', writes(path), planted(path), 'protected.git')


@scenario('claude', 'codex', 'gemini', 'copilot', 'opencode')
def settings_that_agents_obey(o, agent):
    def path(lab):
        (lab.proj / '.vscode').mkdir(exist_ok=True)
        lab.own()
        return lab.proj / '.vscode/tasks.json'
    refused(o, agent, 'settings', writes(path), planted(path), 'protected.name')


@scenario('claude', 'codex', 'copilot', 'opencode')
def a_file_outside_the_project(o, agent):
    path = lambda lab: lab.outside / 'new.txt'
    refused(o, agent, 'outside', writes(path), planted(path), 'roots.outside')


@scenario(*FIVE, 'copilot')
def a_file_of_the_project(o, agent):
    path = lambda lab: lab.proj / 'src/new.c'
    kept(o, agent, 'inside', writes(path), planted(path))


@scenario('claude')
def the_tool_that_watches_a_command(o, agent):
    refused(o, agent, 'monitor', lambda lab: [
        {'tool': 'Monitor', 'input': {'description': 'a step', 'timeout_ms': 5000, 'command': 'xdg-open https://example.com'}},
        {'shell': 'sleep 1'}], opened, 'launch.url')


@scenario('codex', gate=('codex',))
def a_folder_that_the_model_names_is_no_root(o, agent):
    refused(o, agent, 'folder', lambda lab: [{'tool': 'exec_command', 'input': {'cmd': 'find data -delete', 'workdir': str(lab.outside)}}],
            no_data, 'destroy')


@scenario('codex')
def a_relative_path_in_a_patch(o, agent):
    refused(o, agent, 'patch', lambda lab: [{'patch': '*** Begin Patch\n*** Add File: ../outside/p.txt\n+x\n*** End Patch'}],
            lambda lab: (lab.outside / 'p.txt').exists(), 'roots.outside')


@scenario('claude')
def the_agents_own_worktree(o, agent):
    """Files in .claude/worktrees can be written; the settings in there cannot."""
    def commit(lab):
        who = ['-c', 'user.name=a', '-c', 'user.email=a@b.test']
        lab.run(['git', *who, 'add', '-A'])
        lab.run(['git', *who, 'commit', '-qm', 'x'])
    def play(name, install):
        lab = Lab(o, agent, name)
        commit(lab)
        if install:
            lab.install()
        tree = lab.proj / '.claude/worktrees/wt'
        lab.play([{'tool': 'EnterWorktree', 'input': {'name': 'wt'}}, {'write': {'path': str(tree / 'src/new.c'), 'content': 'x'}},
                  {'write': {'path': str(tree / '.claude/settings.json'), 'content': 'planted'}}])
        need((tree / 'src/new.c').exists(), lab.results())
        return lab, (tree / '.claude/settings.json').exists()
    lab, written = play('worktree-control', False)
    need(written, 'control: the settings were not written without cordon', lab.results())
    lab, written = play('worktree', True)
    need(not written and 'protected.name' in lab.read(2), lab.results())


@scenario('claude', 'gemini')
def the_agents_own_memory(o, agent):
    path = (lambda lab: lab.home / '.gemini/tmp/proj/plan.md') if agent == 'gemini' else (
        lambda lab: lab.home / '.claude/projects' / str(lab.proj).replace('/', '-') / 'memory/note.md')
    kept(o, agent, 'memory', writes(path), planted(path))


@scenario('claude')
def the_agents_own_settings_beside_its_memory(o, agent):
    path = lambda lab: lab.home / '.claude/settings.json'
    refused(o, agent, 'homesettings', writes(path), planted(path), 'roots.outside')


# ---- fail closed ----

def broken(o, agent, name, replacement):
    """Something else in the place of cordon: the agent must not run the command."""
    control(o, agent, name, lambda lab: OPEN, opened)
    lab = Lab(o, agent, name)
    lab.install()
    stand_in = lab.base / 'bin/cordon-gone'
    if replacement:
        lab.write(stand_in, replacement, 0o755)

    lab.replace_cordon(stand_in)
    lab.play(OPEN)
    need(not opened(lab), 'it happened', lab.results(), lab.done.stderr[-300:])
    return lab


@scenario(*FIVE, 'copilot', gate=THREE)
def cordon_is_missing(o, agent):
    lab = broken(o, agent, 'missing', None)
    need('did not run' in ' '.join(lab.results()) or agent == 'copilot', lab.results())


@scenario(*FIVE)
def cordon_crashes(o, agent):
    broken(o, agent, 'crash', '#!/bin/sh\nkill -SEGV $$\n')


@scenario(*FIVE)
def cordon_ends_with_one(o, agent):
    broken(o, agent, 'one', '#!/bin/sh\necho broken >&2\nexit 1\n')


@scenario('opencode')
def another_program_in_the_place_of_cordon(o, agent):
    """One that ends with 0 and says nothing, or nonsense: only the answer of cordon itself lets a command run."""
    broken(o, agent, 'silent', '#!/bin/sh\nexit 0\n')
    broken(o, agent, 'nonsense', '#!/bin/sh\necho "{nonsense"\n')


@scenario(*THREE, 'opencode')
def a_policy_file_that_is_missing(o, agent):
    refused(o, agent, 'nopolicy', lambda lab: OPEN, opened, 'cannot be judged',
            setup=lambda lab: lab.install('--policy', '/nonexistent.json'))


# ---- --wrap ----

def both(lab):
    return [{'shell': f'echo in > inside.txt; echo out > {lab.outside}/out.txt; echo "code=$? CORDON=$CORDON"'}]


def outside(lab):
    return (lab.outside / 'out.txt').exists()


def wrapped(lab):
    lab.install('--wrap')


def inside_only(lab):
    need((lab.proj / 'inside.txt').exists(), 'the file inside is missing', lab.results(), lab.done.stderr[-300:])


@scenario('qwen')
def wrap_is_refused_where_the_agent_takes_no_other_command(o, agent):
    lab = Lab(o, agent, 'nowrap')
    said = lab.cordon('hook', '--install', agent, '--project', '--wrap')
    need(said.returncode == 125 and 'leave out --wrap' in said.stderr and not lab.settings().exists(), said.stderr)
    lab.install()  # the control: without --wrap it is written
    need(lab.settings().exists(), 'control: nothing was written')


@scenario(*THREE, 'opencode', gate=THREE)
def wrapped_commands_are_confined(o, agent):
    inside_only(refused(o, agent, 'wrap', both, outside, 'CORDON=1', setup=wrapped))


@scenario(*THREE, 'opencode')
def a_wrapped_program_that_no_command_line_shows(o, agent):
    def steps(lab):
        lab.write(lab.proj / 'x.py', f'open("{lab.outside}/out.txt", "w")\n')
        return [{'shell': 'python3 x.py'}]
    refused(o, agent, 'wrapprogram', steps, outside, 'enied', setup=wrapped)


@scenario('codex')
def a_wrapped_command_in_a_folder_of_the_model(o, agent):
    refused(o, agent, 'wrapfolder', lambda lab: [{'tool': 'exec_command', 'input': {
        'cmd': 'echo out > out.txt; echo "code=$? CORDON=$CORDON"', 'workdir': str(lab.outside)}}], outside, 'CORDON=1', setup=wrapped)


@scenario('codex')
def what_is_typed_into_a_wrapped_shell(o, agent):
    """write_stdin reaches a shell that runs already, and no hook is asked."""
    steps = lambda lab: [{'tool': 'exec_command', 'input': {'cmd': 'bash', 'tty': True, 'yield_time_ms': 500}},
                         {'tool': 'write_stdin', 'input': {'session_id': '$SESSION', 'yield_time_ms': 1500,
                                                           'chars': f'echo out > {lab.outside}/out.txt; echo in > inside.txt\n'}}]
    inside_only(refused(o, agent, 'stdin', steps, outside, 'enied', setup=wrapped))


@scenario('claude')
def the_tool_that_watches_a_wrapped_command(o, agent):
    steps = lambda lab: [{'tool': 'Monitor', 'input': {'description': 'a step', 'timeout_ms': 5000,
                                                       'command': f'echo out > {lab.outside}/out.txt; echo in > inside.txt'}},
                         {'shell': 'sleep 2; echo waited'}]
    inside_only(refused(o, agent, 'wrapmonitor', steps, outside, 'waited', setup=wrapped))


def rules(options, permissions):
    def setup(lab):
        if options is not None:
            lab.install(*options)

        def change(value, _):
            value['permissions'] = permissions
        lab.change_settings(change, local=options is not None and '--wrap' in options)
    return setup


def made(lab):
    return (lab.proj / 'made.txt').exists()


@scenario('claude', gate=('claude',))
def the_persons_deny_rules_hold_with_wrap(o, agent):
    refused(o, agent, 'ruledeny', lambda lab: [{'shell': 'touch made.txt'}], made, 'has been denied',
            setup=rules(['--wrap'], {'deny': ['Bash(touch:*)']}))


@scenario('claude')
def the_persons_deny_rules_hold_with_approve(o, agent):
    refused(o, agent, 'ruleapprove', lambda lab: [{'shell': 'touch made.txt'}], made, 'has been denied',
            setup=rules(['--wrap', '--approve'], {'deny': ['Bash(touch:*)']}))


@scenario('claude')
def the_persons_allow_rules_hold_with_wrap(o, agent):
    """Headless, in the mode that asks: without the rule the agent refuses."""
    plain = Lab(o, agent, 'ruleallow-control')
    plain.play([{'shell': 'touch made.txt'}], mode='ask')
    need(not made(plain), 'control: it ran without a rule', plain.results())
    lab = Lab(o, agent, 'ruleallow')
    rules(['--wrap'], {'allow': ['Bash(touch:*)']})(lab)
    lab.play([{'shell': 'touch made.txt'}], mode='ask')
    need(made(lab), lab.results())


@scenario('claude')
def approve_lets_a_confined_command_run_without_a_question(o, agent):
    plain = Lab(o, agent, 'approve-control')
    wrapped(plain)
    plain.play([{'shell': 'touch made.txt'}], mode='ask')
    need(not made(plain), 'control: it ran without --approve', plain.results())
    lab = Lab(o, agent, 'approve')
    lab.install('--wrap', '--approve')
    lab.play([{'shell': 'touch made.txt'}], mode='ask')
    need(made(lab), lab.results())


@scenario('opencode')
def the_persons_own_rules_hold_with_wrap(o, agent):
    """OpenCode reads the command as it is, also where its shell is confined."""
    def setup(lab):
        wrapped(lab)
        lab.permission = {'*': 'allow', 'bash': {'*': 'allow', 'touch *': 'deny'}}
    refused(o, agent, 'ruledeny', lambda lab: [{'shell': 'touch made.txt'}], made, 'user has specified a rule', setup=setup)


@scenario('opencode')
def an_agent_that_the_agent_starts(o, agent):
    steps = lambda lab: [{'tool': 'task', 'input': {'description': 'd', 'prompt': 'p', 'subagent_type': 'general'}, 'otherwise': OPEN[0]}]
    control(o, agent, 'sub', steps, opened)
    lab = Lab(o, agent, 'sub')
    lab.install()
    lab.play(steps(lab))
    need(not opened(lab) and any('launch.url' in json.dumps(r['body']) for r in lab.requests()), lab.results())


@scenario('claude')
def a_wrapped_shell_follows_a_change_of_folder(o, agent):
    kept(o, agent, 'wrapcd', lambda lab: [{'shell': 'cd src'}, {'shell': 'pwd'}], lambda lab: lab.read(1).rstrip().endswith('/proj/src'),
         setup=wrapped)


@scenario('claude', 'opencode')
def the_file_of_the_wrapped_shell_is_missing(o, agent):
    def setup(lab):
        wrapped(lab)
        (lab.proj / f'.{agent}/cordon/bash').unlink()
    refused(o, agent, 'noshell', lambda lab: [{'shell': f'echo out > {lab.outside}/out.txt'}], outside, '--wrap again', setup=setup)


@scenario('claude', 'codex')
def wrapped_where_the_persons_shell_is_zsh(o, agent):
    if not shutil.which('zsh'):
        return 'zsh is not installed'

    def setup(lab):
        lab.env['SHELL'] = shutil.which('zsh')
        wrapped(lab)
    inside_only(refused(o, agent, 'zsh', both, outside, 'CORDON=1', setup=setup))


@scenario('codex')
def wrapped_inside_the_sandbox_of_codex(o, agent):
    control(o, agent, 'wrapnested', both, outside)
    for name, setup, mark in (('wrapnested-own', lambda lab: None, 'CORDON='), ('wrapnested', wrapped, 'CORDON=1')):
        lab = Lab(o, agent, name)
        setup(lab)
        lab.sandbox = 'workspace-write'
        lab.play(both(lab))
        inside_only(lab)
        said = [word for word in lab.read().replace('\\n', ' ').replace('"', ' ').split() if word.startswith('CORDON=')]
        need(not outside(lab) and mark in said, lab.results())


# ---- the whole agent inside ----

def whole(o, agent, name, steps, effect, net='--net=loopback', **more):
    control(o, agent, name, steps, effect)
    lab = Lab(o, agent, name)
    folders = [f'{d}/opencode' for d in ('.local/share', '.local/state', '.cache', '.config')] if agent == 'opencode' else [f'.{agent}']
    for folder in folders:
        (lab.home / folder).mkdir(parents=True, exist_ok=True)
    lab.env['CLAUDE_CONFIG_DIR'] = str(lab.home / '.claude')
    lab.env['CLAUDE_CODE_TMPDIR'] = str(lab.home / '.claude/tmp')
    lab.own()
    for key, value in more.items():
        setattr(lab, key, value)
    lab.play(steps(lab), around=[o.cordon, 'run', '--policy', o.work / f'policies/{agent}.json', '--root', '.', net, '--'])
    need(not effect(lab), 'it happened', lab.results())
    return lab


@scenario(*THREE, 'opencode')
def the_whole_agent_inside(o, agent):
    lab = whole(o, agent, 'whole', both, outside)
    inside_only(lab)
    need('CORDON=1' in lab.read(), lab.results())
    noise = [line for line in lab.done.stderr.splitlines() if 'sandbox denied' in line]
    need(len(noise) <= 6, f'{len(noise)} lines of denials', *noise)


@scenario(*THREE)
def the_whole_agent_inside_with_localhost_as_its_only_address(o, agent):
    lab = whole(o, agent, 'wholelocal', both, outside, net='--net=allow=localhost')
    inside_only(lab)


@scenario('claude')
def the_whole_agent_inside_with_one_port_of_localhost(o, agent):
    inside_only(whole(o, agent, 'wholeport', both, outside, net='--net=allow=localhost:PORT'))
    lab = Lab(o, agent, 'wholeother')
    (lab.home / '.claude').mkdir()
    lab.env.update(CLAUDE_CONFIG_DIR=str(lab.home / '.claude'), CLAUDE_CODE_TMPDIR=str(lab.home / '.claude/tmp'), CLAUDE_CODE_MAX_RETRIES='0')
    lab.own()
    lab.play(both(lab), around=[o.cordon, 'run', '--policy', o.work / 'policies/claude.json', '--root', '.', '--net=allow=localhost:1', '--'])
    need(not lab.results(), 'another port was reached', lab.results())


@scenario('codex')
def the_sandbox_of_codex_inside(o, agent):
    """Its own sandbox needs user namespaces, which are closed inside: it says so, and nothing runs unconfined."""
    lab = whole(o, agent, 'wholenested', both, outside, sandbox='workspace-write')
    need('bwrap' in lab.read() or (lab.proj / 'inside.txt').exists(), lab.results())


# ---- what it costs ----

def line_alone(o, agent):
    """Milliseconds that a shell needs for the line that --install writes, above one that does nothing."""
    lab = Lab(o, agent, 'line')
    lab.install('--root', str(lab.proj))
    command = next(iter(json.loads(lab.settings().read_text())['hooks'].values()))[0]['hooks'][0]['command']
    tool = 'run_shell_command' if agent == 'gemini' else 'Bash'
    event = json.dumps({'session_id': 's', 'cwd': str(lab.proj), 'tool_name': tool, 'tool_input': {'command': 'npm test'}})

    def once(line):
        begun = time.perf_counter()
        done = subprocess.run(['/bin/bash', '-c', line], input=event, text=True, cwd=lab.proj, env=lab.env, capture_output=True)
        need(done.returncode == 0 and not done.stdout, done.stdout, done.stderr)
        return (time.perf_counter() - begun) * 1000
    pairs = [(once(command), once('read -r line; true')) for _ in range(60)]
    return statistics.median(a for a, _ in pairs) - statistics.median(b for _, b in pairs)


def emptied(settings):
    """The same hooks with a command that only answers: what the agent itself spends on calling one."""
    if isinstance(settings, dict):
        return {k: 'cat >/dev/null' if k == 'command' else emptied(v) for k, v in settings.items()}
    return [emptied(v) for v in settings] if isinstance(settings, list) else settings


@scenario(*THREE)
def the_hook_costs_at_most_five_milliseconds(o, agent):
    """The time of a tool call in the agent, in turns without a hook, with one that does nothing, and with Cordon's.
    What the agent spends on calling any hook is its own: the last two are compared."""
    def times(n, hook):
        lab = Lab(o, agent, f'time{n}{hook}')
        if hook != 'without':
            lab.install()
        if hook == 'empty':
            path = lab.settings()
            path.write_text(json.dumps(emptied(json.loads(path.read_text()))))
        lab.play([{'shell': 'true'} for _ in range(25)])
        at = [r['at'] for r in lab.requests() if r['body'].get('tools') or r['body'].get('input')]
        return [b - a for a, b in zip(at[3:], at[4:])]
    alone = line_alone(o, agent)
    need(alone <= 5, f'the line alone takes {alone:.1f} ms')
    said = []
    for attempt in range(3):  # other work on the machine only adds to it
        took = {'without': [], 'empty': [], 'with': []}
        for n in range(2):
            for hook, list_ in took.items():
                list_ += times(f'{attempt}{n}', hook)
        without, empty, with_hook = (statistics.median(list_) for list_ in took.values())
        said.append(f'{without} ms without, {empty} ms with an empty hook, {with_hook} ms with; the line alone {alone:.1f} ms')
        if with_hook - empty <= 5:
            return said[-1]
    raise Bad('; '.join(said))


SERIAL = {the_hook_costs_at_most_five_milliseconds}


# ---- events, for tests/cases/hook ----

def record(o, agent):
    """The agent's own events as cases, with the names of folders that the tests use."""
    lab = Lab(o, agent, 'events')
    lab.install()
    name = {'copilot': 'claude'}.get(agent, agent)

    stand_in = lab.base / 'bin/cordon-recorded'
    lab.write(stand_in, f'#!/bin/sh\ntee -a {lab.base}/events.jsonl | {o.cordon} "$@"\ncode=$?\necho >> {lab.base}/events.jsonl\nexit $code\n', 0o755)
    lab.replace_cordon(stand_in)
    new = str(lab.proj / 'src/new.c')
    steps = [{'shell': 'echo one'}, {'write': {'path': new, 'content': 'x'}}]
    if agent == 'claude':
        steps += [{'tool': 'Edit', 'input': {'file_path': new, 'old_string': 'x', 'new_string': 'y'}},
                  {'tool': 'Monitor', 'input': {'description': 'a step', 'timeout_ms': 3000, 'command': 'echo mon'}},
                  {'tool': 'Bash', 'input': {'command': 'echo bg', 'run_in_background': True, 'description': 'd'}}]
    if agent == 'codex':
        steps += [{'tool': 'exec_command', 'input': {'cmd': 'echo two', 'workdir': str(lab.proj / 'src'), 'login': False}}]
    if agent == 'gemini':
        steps += [{'tool': 'replace', 'input': {'file_path': new, 'instruction': 'i', 'old_string': 'x', 'new_string': 'y'}},
                  {'tool': 'run_shell_command', 'input': {'command': 'echo two', 'dir_path': 'src', 'is_background': False}}]
    if agent == 'qwen':
        steps += [{'tool': 'edit', 'input': {'file_path': new, 'old_string': 'x', 'new_string': 'y'}}]
    if agent == 'opencode':
        steps += [{'tool': 'edit', 'input': {'filePath': new, 'oldString': 'x', 'newString': 'y'}},
                  {'tool': 'bash', 'input': {'command': 'echo two', 'workdir': 'src', 'description': 'd'}}]
    if agent == 'copilot':
        steps += [{'tool': 'edit', 'input': {'path': new, 'old_str': 'x', 'new_str': 'y'}}]
    lab.play(steps)
    file = lab.base / 'events.jsonl'
    lines = [line for line in file.read_text().splitlines() if line] if file.exists() else []
    need(len(lines) >= len(steps) - 1, 'events are missing', *lines)
    cases = []
    for line in lines:
        for real, stand_in in ((str(lab.proj), '/ws'), (str(lab.home), '/home/u'), (str(lab.proj).replace('/', '-'), '-ws')):
            line = line.replace(real, stand_in)
        tool = json.loads(line).get('tool_name') or json.loads(line).get('toolName')
        cases.append(f'# {LABELS[agent]} {o.versions[agent]}: {tool}\nraw| {line}\n{"allow" if agent == "opencode" else "empty"}\n')
    return name, cases
