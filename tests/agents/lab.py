# SPDX-License-Identifier: Apache-2.0
"""One run of one coding agent: a home, a project and a model server of its own, nothing of anybody's."""
import hashlib
import json
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# The versions under test; LATEST=1 takes today's. npm chooses an older version where its Node is old, so one is
# always named.
VERSIONS = {
    'node': ('node', '24.21.0'),
    'claude': ('@anthropic-ai/claude-code', '2.1.325'),
    'codex': ('@openai/codex', '0.166.0'),
    'gemini': ('@google/gemini-cli', '0.61.0'),
    'qwen': ('@qwen-code/qwen-code', '0.24.4'),
    'copilot': ('@github/copilot', '1.0.102'),
    'opencode': ('opencode-ai', '1.18.33'),
}
LABELS = {'claude': 'Claude Code', 'codex': 'Codex', 'gemini': 'Gemini CLI', 'qwen': 'Qwen Code', 'copilot': 'Copilot CLI',
          'opencode': 'OpenCode'}
SETTINGS = {'claude': '.claude/settings.json', 'codex': '.codex/hooks.json', 'gemini': '.gemini/settings.json',
            'qwen': '.qwen/settings.json', 'opencode': '.opencode/plugin/cordon.js'}


class Options:
    """Where things are. As root the agents run as nobody: they refuse root, or behave differently."""

    def __init__(self, cordon, latest=False):
        self.user = pwd.getpwnam('nobody') if os.getuid() == 0 else None
        base = os.environ.get('CORDON_TESTS_CACHE')
        home_cache = os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')
        # The user whom root runs them as cannot look into root's home folder.
        self.base = pathlib.Path(base or ('/var/cache/cordon-tests' if self.user else f'{home_cache}/cordon-tests'))
        self.latest = latest
        self.versions = {name: version for name, (_, version) in VERSIONS.items()}
        self.work = self.base / f'work-{os.getpid()}'
        self.source = pathlib.Path(cordon).resolve()
        self.timeout = 120

    def folder(self, agent):
        return self.base / 'agents' / f'{agent}-{self.versions[agent]}'

    def program(self, agent):
        return self.folder(agent) / 'node_modules/.bin' / agent

    def prepare(self):
        self.node = str(self.folder('node') / 'node_modules/node/bin/node')
        self.work.mkdir(parents=True)
        (self.work / 'bin').mkdir()
        # A copy, because the user may not be able to reach the build folder.
        self.cordon = str(self.work / 'bin/cordon')
        shutil.copy(self.source, self.cordon)
        shutil.copytree(ROOT / 'examples/policies', self.work / 'policies')

    def as_user(self, words):
        if not self.user:
            return words
        return ['setpriv', '--reuid', str(self.user.pw_uid), '--regid', str(self.user.pw_gid), '--clear-groups', *words]


def install_agents(options, names, download):
    """Puts the agents into the cache; returns those that are there."""
    there = []
    for name in names:
        package, version = VERSIONS[name]
        if options.latest:
            found = subprocess.run(['npm', 'view', package, 'version'], capture_output=True, text=True)
            latest = found.stdout.strip().splitlines()[-1] if found.returncode == 0 and found.stdout.strip() else version
            if latest != version:
                print(f'# {name}: {latest} instead of {version}')
            options.versions[name] = version = latest
        folder = options.folder(name)
        if not (folder / 'complete').exists() and download:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            (folder / 'package.json').write_text('{"private":true}')
            done = subprocess.run(['npm', 'install', '--no-audit', '--no-fund', '--silent', f'{package}@{version}'],
                                  cwd=folder, capture_output=True, text=True)
            if done.returncode == 0:
                (folder / 'complete').touch()
            else:
                print(f'# {name}: {" ".join(done.stderr.split())[:200]}')
        if (folder / 'complete').exists():
            there.append(name)
    return there


class Lab:
    """Folders for one run: home, proj (the project), outside (nobody's business), bin (an opener that leaves a mark)."""

    def __init__(self, options, agent, name):
        self.o, self.agent, self.name = options, agent, name
        self.base = options.work / f'{agent}-{name}'
        for folder in ('home', 'proj/src', 'outside/data', 'bin'):
            (self.base / folder).mkdir(parents=True)
        self.home, self.proj, self.outside = (self.base / d for d in ('home', 'proj', 'outside'))
        (self.outside / 'data/file').write_text('precious\n')
        (self.proj / 'src/a.c').write_text('int a;\n')
        opener = self.base / 'bin/xdg-open'
        opener.write_text(f'#!/bin/sh\necho "$@" >> {self.base}/opened\n')
        opener.chmod(0o755)
        node = pathlib.Path(options.node).parent
        self.env = {'HOME': str(self.home), 'SHELL': '/bin/bash', 'TERM': 'xterm-256color', 'LANG': 'C.UTF-8',
                    'USER': 'nobody', 'LOGNAME': 'nobody', 'PATH': f'{self.base}/bin:{node}:/usr/local/bin:/usr/bin:/bin'}
        # A login shell, which Codex starts, sets PATH anew.
        (self.home / '.profile').write_text(f'PATH={self.env["PATH"]}\n')
        self.trust, self.sandbox, self.flags, self.server = True, 'danger-full-access', None, None
        self.config = ''
        self.permission = {'*': 'allow', 'external_directory': 'allow'}  # of OpenCode
        self.own()
        self.run(['git', 'init', '-q', '.'])

    def own(self):
        if self.o.user:
            subprocess.run(['chown', '-R', f'{self.o.user.pw_uid}:{self.o.user.pw_gid}', str(self.base)], check=True)

    def write(self, path, text, mode=0o644):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        self.own()

    def run(self, words, cwd=None, env=None, timeout=None):
        words = self.o.as_user([str(w) for w in words])
        child = subprocess.Popen(words, cwd=cwd or self.proj, env=env or self.env, text=True, errors='replace',
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        try:
            out, err = child.communicate(timeout=timeout or self.o.timeout)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            out, err = child.communicate()
            err += '\nTIME IS UP'
        return subprocess.CompletedProcess(words, child.returncode, out, err)

    # ---- cordon ----

    def cordon(self, *words, env=None):
        return self.run([self.o.cordon, *words], env=env)

    def install(self, *options, project=True):
        name = {'copilot': 'claude'}.get(self.agent, self.agent)
        done = self.cordon('hook', '--install', name, *(['--project'] if project else []), *options)
        if done.returncode:
            raise RuntimeError(f'cordon hook --install {name}: {done.stderr}')
        return done

    def settings(self, local=False):
        name = {'copilot': 'claude'}.get(self.agent, self.agent)
        return self.proj / ('.claude/settings.local.json' if local else SETTINGS[name])

    def change_settings(self, change, local=False):
        """change gets the settings and the handler of cordon's hook in them."""
        file = self.settings(local)
        value = json.loads(file.read_text()) if file.exists() else {}
        groups = next(iter(value.get('hooks', {'': []}).values()))
        change(value, groups[0]['hooks'][0] if groups else None)
        self.write(file, json.dumps(value))

    def replace_cordon(self, program):
        """Another program in the place of cordon, in what --install wrote."""
        file = self.settings()
        text = file.read_text()
        if self.o.cordon not in text:
            raise RuntimeError(f'{file} does not name {self.o.cordon}')
        self.write(file, text.replace(self.o.cordon, str(program)))

    def trust_hook(self, file=None):
        """What /hooks writes into Codex's config.toml when a person trusts the hook."""
        file = file or self.settings()
        group = json.loads(file.read_text())['hooks']['PreToolUse'][0]
        identity = {'event_name': 'pre_tool_use', 'matcher': group['matcher'],
                    'hooks': [{'type': 'command', 'command': group['hooks'][0]['command'], 'timeout': 600, 'async': False}]}
        text = json.dumps(identity, sort_keys=True, separators=(',', ':'), ensure_ascii=False)
        digest = hashlib.sha256(text.encode()).hexdigest()
        self.config += f'[hooks.state."{file}:pre_tool_use:0:0"]\ntrusted_hash = "sha256:{digest}"\n'

    # ---- the model ----

    def start(self, steps):
        for name in ('port', 'log.jsonl'):
            (self.base / name).unlink(missing_ok=True)
        (self.base / 'script.json').write_text(json.dumps(steps))
        self.server = subprocess.Popen([self.o.node, str(HERE / 'model.mjs'), '--script', str(self.base / 'script.json'),
                                        '--log', str(self.base / 'log.jsonl'), '--port-file', str(self.base / 'port')])
        for _ in range(400):
            if (self.base / 'port').exists() and (self.base / 'port').read_text():
                break
            time.sleep(0.02)
        self.port = (self.base / 'port').read_text()

    def stop(self):
        if self.server:
            self.server.terminate()
            self.server.wait()
            self.server = None

    def requests(self):
        file = self.base / 'log.jsonl'
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def results(self):
        """What the model read of its tools, from the request that holds most."""
        best = []
        for request in self.requests():
            body, found = request['body'], []
            for message in body.get('messages') or []:
                if message.get('role') == 'tool':
                    found.append(message.get('content'))
                for c in message['content'] if isinstance(message.get('content'), list) else []:
                    if c.get('type') == 'tool_result':
                        found.append(c.get('content'))
            for item in body.get('input') or []:
                if isinstance(item, dict) and str(item.get('type', '')).endswith('_call_output'):
                    found.append(item.get('output'))
            for content in body.get('contents') or []:
                found += [p['functionResponse'].get('response') for p in content.get('parts') or [] if 'functionResponse' in p]
            if len(found) >= len(best):
                best = found
        return [x if isinstance(x, str) else json.dumps(x) for x in best]

    def read(self, n=0):
        results = self.results()
        return results[n] if n < len(results) else ''

    # ---- the agent ----

    def command(self, mode='run', more=()):
        """The agent's command line; everything that it needs is in its environment."""
        url, program = f'http://127.0.0.1:{self.port}', self.o.program(self.agent)
        if self.agent == 'claude':
            self.env.update(ANTHROPIC_BASE_URL=url, ANTHROPIC_API_KEY='x', DISABLE_TELEMETRY='1', DISABLE_ERROR_REPORTING='1',
                            DISABLE_AUTOUPDATER='1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC='1')
            permission = {'run': 'bypassPermissions', 'ask': 'default'}[mode]
            return [program, '-p', 'go on', '--permission-mode', permission, '--output-format', 'stream-json', '--verbose', *more]
        if self.agent == 'codex':
            self.env['MODEL_KEY'] = 'x'
            trust = f'[projects."{self.proj}"]\ntrust_level = "trusted"\n' if self.trust else ''
            self.write(self.home / '.codex/config.toml',
                       'model = "gpt-5.5"\nmodel_provider = "scripted"\n[model_providers.scripted]\nname = "scripted"\n'
                       f'base_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "MODEL_KEY"\n{trust}{self.config}')
            flags = ['--dangerously-bypass-hook-trust'] if self.flags is None else self.flags
            return [program, 'exec', '--skip-git-repo-check', '-s', self.sandbox, *flags, *more, 'go on']
        if self.agent == 'gemini':
            self.env.update(GEMINI_API_KEY='x', GOOGLE_GEMINI_BASE_URL=url)
            if self.trust:
                self.env['GEMINI_CLI_TRUST_WORKSPACE'] = 'true'
            file = self.home / '.gemini/settings.json'
            value = json.loads(file.read_text()) if file.exists() else {}
            value.update({'security': {'auth': {'selectedType': 'gemini-api-key'}}, 'privacy': {'usageStatisticsEnabled': False},
                          'general': {'enableAutoUpdate': False, 'enableAutoUpdateNotification': False}})
            self.write(file, json.dumps(value))
            return [program, '-p', 'go on', '--skip-trust', '--approval-mode', {'run': 'yolo', 'ask': 'default'}[mode], *more]
        if self.agent == 'qwen':
            self.env.update(OPENAI_API_KEY='x', OPENAI_BASE_URL=f'{url}/v1', OPENAI_MODEL='scripted')
            return [program, '-p', 'go on', '--yolo', '--auth-type', 'openai', *more]
        if self.agent == 'copilot':
            self.env.update(COPILOT_OFFLINE='true', COPILOT_PROVIDER_BASE_URL=f'{url}/v1', COPILOT_MODEL='scripted',
                            COPILOT_PROVIDER_API_KEY='x')
            return [program, '-p', 'go on', '--allow-all-tools', '--trust-folder', '--allow-all-paths', *more]
        if self.agent == 'opencode':
            # Without npm's registry: OpenCode wants a package of its own beside each folder of plugins, and goes on.
            provider = {'npm': '@ai-sdk/openai-compatible', 'name': 'scripted', 'options': {'baseURL': f'{url}/v1', 'apiKey': 'x'},
                        'models': {'scripted': {'name': 'scripted'}}}
            config = {'model': 'scripted/scripted', 'autoupdate': False, 'share': 'disabled', 'provider': {'scripted': provider},
                      'permission': self.permission}
            self.env.update(OPENCODE_CONFIG_CONTENT=json.dumps(config), OPENCODE_DISABLE_MODELS_FETCH='1',
                            OPENCODE_DISABLE_LSP_DOWNLOAD='1', npm_config_offline='true', npm_config_registry='http://127.0.0.1:9/')
            return [program, 'run', *more, 'go on']
        raise ValueError(self.agent)

    def play(self, steps, mode='run', more=(), around=()):
        """Runs the agent with these tool calls; around are words in front of its command line."""
        self.start(steps)
        try:
            words = self.command(mode, more)
            self.done = self.run([*[str(w).replace('PORT', self.port) for w in around], *words])
        finally:
            self.stop()
        return self.done
