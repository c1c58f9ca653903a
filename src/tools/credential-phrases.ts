import { isHarmlessValue, isSentenceWord, type CredentialKind } from './credential-names';
import type { Mask } from './credential-patterns';

/** A value of a command line: in quotes, or up to the next white space. A mark is none. */
const ARGUMENT = String.raw`(?!["']?\[redacted:)('[^'\n\\]{1,256}'|"[^"\n\\]{1,256}"|[^\s"'\\]{1,256})`;

/** A command with its options, up to the end of the line or an operator of a shell. */
function commandLine(names: string): RegExp {
  return new RegExp(`(?<![A-Za-z0-9_])(?:${names})\\s(?:(?!\\s[|;&]|;\\s)[^\\n])*`, 'g');
}

/** Commands whose short option is a password, each with the form in which the command takes it. */
const COMMANDS: readonly { readonly line: RegExp; readonly option: RegExp }[] = [
  {
    // apart from the option, the word after it is the name of a database
    line: commandLine('(?:mysql|mariadb)(?:dump|admin|import|show|check|slap|-[a-z]{1,16})?'),
    option: new RegExp(`(\\s-p)${ARGUMENT}`, 'g'),
  },
  { line: commandLine('sshpass'), option: new RegExp(`(^sshpass\\s{1,3}(?:-v\\s{1,3})?-p\\s{0,3})${ARGUMENT}`) },
  { line: commandLine('redis-cli'), option: new RegExp(`(\\s(?:-a|--pass)\\s{1,3})${ARGUMENT}`, 'g') },
  {
    line: commandLine('mongo(?:sh|dump|restore|import|export)?|(?:docker|podman|registry)\\slogin'),
    option: new RegExp(`(\\s-p\\s{1,3})${ARGUMENT}`, 'g'),
  },
  {
    line: commandLine('ldap(?:search|modify|add|delete|whoami|passwd)'),
    option: new RegExp(`(\\s-w\\s{0,3})${ARGUMENT}`, 'g'),
  },
  {
    // `-u user:password`, where a scheme is no user
    line: commandLine('curl'),
    option:
      /(\s(?:-[a-zA-Z]{0,8}[uU]\s{0,3}|--(?:proxy-)?user(?:\s{1,3}|=))["']?[^\s:"'\\]{0,128}:)(?!\/\/|\[redacted:)([^\s"'\\]{1,256})/g,
  },
];

const PASSWORD_NAME = 'password|passwd|passphrase|passcode|pwd';
const VALUE = String.raw`(?!\[redacted:)([^\s"'\x60\\]{1,256})`;
/** `passphrase "…"`. Not `secret "…"`, which names an object of a cluster. */
const QUOTED_VALUE = new RegExp(
  `(\\b(?:${PASSWORD_NAME})\\s{1,3}\\\\{0,4}["'\x60])(?!\\[redacted:)([^"'\x60\\n\\\\]{1,256})(?=\\\\{0,4}["'\x60])`,
  'gi',
);
/** `password is …`, `secret was set to "…"`. */
const STATED_VALUE = new RegExp(
  `(\\b(${PASSWORD_NAME}|secret|token|api[ _-]?key)\\s{1,3}(?:(?:is|was)(?:\\s{1,3}(?:now|set\\sto|changed\\sto))?|set\\sto|changed\\sto)\\s{1,3}(\\\\{0,4}["'\x60])?)${VALUE}`,
  'gi',
);
/** `Password for root: …`, `Enter passphrase for key '/home/a': …`. */
const PROMPTED_VALUE = new RegExp(
  `(\\b(?:${PASSWORD_NAME})\\sfor\\s(?:(?:user|key|account)\\s)?(?:'[^'\\n]{1,200}'|[^\\s:'"]{1,128})\\s?:\\s{1,3})${VALUE}`,
  'gi',
);
const AROUND = /[.,;:)}\]]+$/;
/** Endings and short words that describe a password rather than being one. */
const DESCRIBING =
  /^(?:weak|strong|short|long|old|new|same|stale|bad|good|fine|okay|blank|null|there|here|safe|plain|plaintext|correct|right|that|this|what|never|always|still|now|only|being|reused|case-\w+|checking|accepted|\w+-\w+ed|\w{2,}(?:ed|ing|able|ible|ent|ant|ive|al|en|ete|id|ect|ure|ous|less|ful|ly))$/i;

/** Takes out secrets that a command line or a sentence gives away. It leaves sentences that only speak of a secret. */
export function maskPhrases(text: string, mask: Mask): string {
  let masked = text;
  for (const { line, option } of COMMANDS) {
    masked = masked.replace(line, (command) =>
      command.replace(option, (all: string, head: string, argument: string) => {
        const quote = /^["']/.exec(argument)?.[0] ?? '';
        const secret = quote === '' ? argument : argument.slice(1, -1);
        return isHarmlessValue(secret, 'token') ? all : head + quote + mask('password', secret) + quote;
      }),
    );
  }
  return masked
    .replace(QUOTED_VALUE, (all: string, head: string, secret: string) =>
      isHarmlessValue(secret, 'password') || isDescribing(secret.split(/\s/)[0] ?? '') ? all : head + mask('password', secret),
    )
    .replace(
      STATED_VALUE,
      (all: string, head: string, name: string, quote: string | undefined, found: string, at: number, whole: string) => {
        const kind = kindOf(name);
        const { secret, rest } = trimmed(found);
        const isLast = /^[.!]?[ \t]*(?:$|[\r\n"'\\])/.test(rest + whole.slice(at + all.length, at + all.length + 4));
        return isStatedSecret(secret, kind, quote !== undefined, isLast) ? head + mask(kind, secret) + rest : all;
      },
    )
    .replace(PROMPTED_VALUE, (all: string, head: string, found: string) => {
      const { secret, rest } = trimmed(found);
      return isHarmlessValue(secret, 'password') || isDescribing(secret) ? all : head + mask('password', secret) + rest;
    });
}

function kindOf(name: string): CredentialKind {
  const word = name.toLowerCase();
  if (word === 'secret' || word === 'token') return word;
  return word.startsWith('api') ? 'api-key' : 'password';
}

function trimmed(found: string): { readonly secret: string; readonly rest: string } {
  const rest = AROUND.exec(found)?.[0] ?? '';
  return { secret: found.slice(0, found.length - rest.length), rest };
}

function isDescribing(word: string): boolean {
  return isSentenceWord(word, 'password', false) || DESCRIBING.test(word);
}

/** A stated value is a secret when it is no plain word; a plain word is one for a password at the end of a line, or in quotes. */
function isStatedSecret(secret: string, kind: CredentialKind, isQuoted: boolean, isLast: boolean): boolean {
  if (secret === '' || isHarmlessValue(secret, kind) || isDescribing(secret)) return false;
  if (/[0-9]|[a-z][A-Z]|[!@#$%^&*+=~?|]/.test(secret)) return kind === 'password' || secret.length >= 6;
  return isQuoted || (kind === 'password' && isLast && /^[A-Za-z]{4,}$/.test(secret));
}
