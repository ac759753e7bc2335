import { describe, expect, it } from 'vitest';

import { decideSsh } from './policy.ts';

const POLICY = {
  blockedCommands: ['rm -rf', 'mkfs', ':(){ :|:& };:', 'dd '],
  allowedDirs: [],
  dryRun: false,
};

function blocked(command: string, rest: { stdin?: string; cwd?: string } = {}) {
  return decideSsh({ command, ...rest }, POLICY);
}

const refusal = (rule: string) => ({
  verdict: 'refuse',
  rule: `blocked: ${rule}`,
  answer: { blocked: true, matched_rule: rule },
});

// Quotes, $IFS and the like went past blocklists that looked at the text alone: CVE-2025-66032, CVE-2025-11491.
describe('the blocklist refuses', () => {
  it.each([
    ['as given', 'rm -rf /tmp/x', 'rm -rf'],
    ['inside a longer word', 'xrm -rf', 'rm -rf'],
    ['white space of other lengths', 'rm  \t -rf /', 'rm -rf'],
    ['a line continuation', 'rm \\\n -rf /', 'rm -rf'],
    ['a word split by quotes', `r'm' -r"f" /`, 'rm -rf'],
    ['empty quotes', `r''m -r""f /`, 'rm -rf'],
    ['backslashes', 'r\\m -r\\f /', 'rm -rf'],
    ['quotes around all of it', `'rm' '-rf' /`, 'rm -rf'],
    ['$IFS', 'rm$IFS-rf$IFS/', 'rm -rf'],
    ['${IFS}', 'rm${IFS}-rf${IFS}/', 'rm -rf'],
    ['${IFS} with an operation', 'rm${IFS%??}-rf /', 'rm -rf'],
    ['$IFS$9', 'rm$IFS$9-rf /', 'rm -rf'],
    ['ANSI-C hex', `$'\\x72m' -rf /`, 'rm -rf'],
    ['ANSI-C octal', `$'\\162\\155' -rf /`, 'rm -rf'],
    ['ANSI-C unicode', `$'\\u0072m' -rf /`, 'rm -rf'],
    ['a locale string', `$"rm" -rf /`, 'rm -rf'],
    ['empty positional parameters', 'r$@m -r$*f /', 'rm -rf'],
    ['an unset variable', 'r${zz}m -rf /', 'rm -rf'],
    ['an empty substitution', 'r$()m -rf /', 'rm -rf'],
    ['empty backticks', 'r``m -rf /', 'rm -rf'],
    ['braces', '{rm,-rf,/}', 'rm -rf'],
    ['a shell in a shell', `sh -c "r'm' -rf /"`, 'rm -rf'],
    ['two shells in a shell', `sh -c "sh -c 'r\\\\m -rf /'"`, 'rm -rf'],
    ['a substitution', 'echo $(rm -rf /)', 'rm -rf'],
    ['backticks', 'echo `r"m" -rf /`', 'rm -rf'],
    ['no blanks around an operator', 'true;rm -rf /', 'rm -rf'],
    ['an unfinished quote', `rm '-rf`, 'rm -rf'],
    ['the fork bomb', ':(){ :|:& };:', ':(){ :|:& };:'],
    ['the fork bomb with other blanks', ': () { : | : & } ; :', ':(){ :|:& };:'],
    ['an entry that ends in a blank', 'dd if=/dev/zero of=x', 'dd '],
    ['that entry as the last word', 'sudo dd', 'dd '],
    ['a path to the command', '/sbin/mkfs.ext4 /dev/sda', 'mkfs'],
  ])('%s', (_what, command, rule) => {
    expect(blocked(command)).toEqual(refusal(rule));
  });

  it('what comes through stdin', () => {
    expect(blocked('sh', { stdin: "true\nr'm' -rf /\n" })).toEqual(refusal('rm -rf'));
  });

  it('what stands in cwd', () => {
    expect(blocked('ls', { cwd: '/tmp/$(r\\m -rf x)' })).toEqual(refusal('rm -rf'));
  });

  it('by the entry of the specification’s example', () => {
    const decision = decideSsh(
      { command: 'dd if=/dev/zero of=/dev/sda' },
      { ...POLICY, blockedCommands: ['dd'] },
    );
    expect(decision).toEqual(refusal('dd'));
  });

  it('before the directories and before dry-run', () => {
    const policy = { ...POLICY, allowedDirs: ['/srv'], dryRun: true };
    expect(decideSsh({ command: 'rm -rf /etc' }, policy)).toEqual(refusal('rm -rf'));
  });
});

describe('the blocklist lets pass', () => {
  it.each([
    ['rm -r /tmp/x'],
    ['echo adding'],
    ['rm notes; ls -rf'],
    ["echo 'rm' then '-rf'"],
    ['ls $HOME ${IFS}'],
    ['echo "unfinished'],
    ['grep -rf rm list'],
    ['rm -r notes; tail -f x'],
    ["find . -name '*.s' -mtime +7"],
    ['echo aGVsbG8gd29ybGQ= | base64 -d'],
    [''],
  ])('%s', (command) => {
    expect(blocked(command)).toEqual({ verdict: 'allow' });
  });
});

// Those that test/prove/vectors holds, and that a list can reasonably see.
describe('the blocklist also refuses', () => {
  it.each([
    ['options apart', 'rm -r -f /', 'rm -rf'],
    ['options in another order', 'rm -fr /', 'rm -rf'],
    ['options behind the operands', 'sudo rm / -v -rf', 'rm -rf'],
    ['a redirection in between', 'rm </dev/null -rf /', 'rm -rf'],
    ['a glob for the command', '/bin/r? -rf /', 'rm -rf'],
    ['a glob that begins as the entry', '/sbin/mk[f]s.* /dev/sda', 'mkfs'],
    ['variables of its own', 'a=r; b=m; $a$b -rf /', 'rm -rf'],
    ['variables in a shell’s text', `sh -c 'a=r; \${a}m -rf /'`, 'rm -rf'],
    ['a loop’s variable', 'for c in rm; do $c -rf /; done', 'rm -rf'],
    ['a default value', '${x:-rm} -rf /', 'rm -rf'],
    ['a substitution that repeats its words', '$(echo r)m -rf /', 'rm -rf'],
    ['printf', `$(printf '\\162\\155') -rf /`, 'rm -rf'],
    ['base64', 'echo cm0gLXJmIC8K | base64 -d | sh', 'rm -rf'],
    ['base64 of UTF-16', 'powershell -enc cgBtACAALQByAGYA', 'rm -rf'],
    ['hexadecimal digits', 'echo 726d202d7266202f | xxd -r -p | sh', 'rm -rf'],
    ['another language’s list', `python3 -c 'run(["rm", "-rf", "/"])'`, 'rm -rf'],
    ['another language’s sum', `python3 -c "system('r'+'m -rf /')"`, 'rm -rf'],
    ['invisible characters', 'r\u200bm\u00a0-rf /', 'rm -rf'],
  ])('%s', (_what, command, rule) => {
    expect(blocked(command)).toEqual(refusal(rule));
  });
});

// No reader of a text knows what it will compute. The list is a guard rail; the account on the device is the boundary.
describe('the blocklist is known to miss', () => {
  it.each([
    ['long options', 'rm --recursive --force /'],
    ['words that a program computes', 'echo / fr- mr | rev | sh'],
    ['a function’s arguments', 'f(){ rm "$@"; }; f -rf /'],
    ['a glob without a letter', '/bin/?? -rf /'],
    ['another program', 'find / -delete'],
    ['a script on the device', './cleanup.sh'],
  ])('%s', (_what, command) => {
    expect(blocked(command)).toEqual({ verdict: 'allow' });
  });
});

describe('dry-run', () => {
  it.each([
    [true, undefined, 'dry_run'],
    [true, false, 'dry_run'],
    [false, true, 'dry_run'],
    [false, false, 'allow'],
    [false, undefined, 'allow'],
  ])('configured %s, asked for %s: %s', (configured, asked, verdict) => {
    const decision = decideSsh({ command: 'ls', dry_run: asked }, { ...POLICY, dryRun: configured });
    expect(decision).toEqual({ verdict });
  });
});

// The timeout is for a busy machine; a pattern that goes back over its text takes minutes.
it('reads the largest and worst texts', { timeout: 60_000 }, () => {
  const policy = { ...POLICY, allowedDirs: ['/srv'] };
  for (const unit of [
    '{',
    '{,',
    '${',
    '$(',
    '`',
    "'",
    '\\',
    'a',
    ',',
    '! ',
    '/a',
    '~',
    '"$',
    "$'",
    '(',
    ' cd',
    '{a,b}',
    'a=$a;',
    '<<a\n',
    '$(echo ',
    'm* ',
    'aGVsbG8gd29ybGQ=\n',
  ]) {
    const command = unit.repeat(Math.floor(120_000 / unit.length));
    expect(['refuse', 'allow']).toContain(decideSsh({ command, stdin: command }, policy).verdict);
  }
});
