import type { CredentialKind } from './credential-names';

/** Replaces a secret by its mark. */
export type Mask = (kind: CredentialKind, secret: string) => string;

/** Start of a token: not inside a word, unless the word before is an escape sequence of JSON or of a URL. */
const START = String.raw`(?<=^|[^A-Za-z0-9_-]|\\[nrtbf]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2})`;
const END = String.raw`(?![A-Za-z0-9])`;

/** Keys with a prefix that their vendor documents; each starts at a token's start, so that no text is read twice. */
const VENDOR_KEYS = [
  'sk-ant-[A-Za-z0-9_-]{16,}',
  'sk-(?:proj|svcacct|admin|or-v1)-[A-Za-z0-9_-]{16,}',
  'sk-[A-Za-z0-9]{20,}',
  '(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}',
  'whsec_[A-Za-z0-9+/]{16,}={0,2}',
  'gh[pousr]_[A-Za-z0-9]{20,}',
  'github_pat_[A-Za-z0-9_]{20,}',
  'gl(?:pat|ptt|dt|rt)-[A-Za-z0-9_-]{16,}',
  'xox[abeoprs]-[A-Za-z0-9-]{10,}',
  'xapp-[A-Za-z0-9-]{10,}',
  'AIza[A-Za-z0-9_-]{30,}',
  String.raw`ya29\.[A-Za-z0-9_-]{20,}`,
  'GOCSPX-[A-Za-z0-9_-]{20,}',
  `(?:AKIA|ASIA)[A-Z0-9]{16}${END}`,
  'npm_[A-Za-z0-9]{30,}',
  'pypi-[A-Za-z0-9_-]{30,}',
  String.raw`SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`,
  `SK[0-9a-f]{32}${END}`,
  'do[oprt]_v1_[0-9a-f]{40,}',
  'hf_[A-Za-z0-9]{20,}',
  String.raw`hv[sbr]\.[A-Za-z0-9_-]{20,}`,
  'shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}',
  `key-[0-9a-f]{32}${END}`,
  'dapi[0-9a-f]{32}',
  'ATATT3[A-Za-z0-9_=-]{20,}',
  'NRAK-[A-Z0-9]{20,}',
  'gsk_[A-Za-z0-9]{20,}',
  'lin_api_[A-Za-z0-9]{20,}',
  String.raw`dp\.(?:pt|st|sa)\.[A-Za-z0-9_.-]{20,}`,
  'AGE-SECRET-KEY-1[A-Z0-9]{20,}',
];
const VENDOR_KEY = new RegExp(`${START}(?:${VENDOR_KEYS.join('|')})`, 'g');
const JWT = new RegExp(`${START}eyJ[A-Za-z0-9_-]{8,}(?:\\.[A-Za-z0-9_-]{0,8192}){1,4}`, 'g');
const BOT_TOKEN = new RegExp(`${START}\\d{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])`, 'g');
const CHAT_WEBHOOK = /(hooks\.slack\.com\\?\/services\\?\/)([A-Za-z0-9\\/]{20,100})/g;
const SCHEME_TOKEN = new RegExp(`${START}(Bearer|Basic)(\\s{1,3}|%20|\\+)([A-Za-z0-9._~+/-]{8,}={0,2})`, 'gi');
/** `scheme://user:password@`; slashes may be escaped. Neither part holds a slash, so that no text is read twice. */
const URL_PASSWORD = /(:\\{0,8}\/\\{0,8}\/[^\s"'\\/?#@:]{0,256}:)([^\s"'\\/?#]{1,512})(@)/g;
const DSN_PASSWORD = new RegExp(`${START}([A-Za-z0-9_.]{1,64}:)([^\\s"'\\\\/@:]{1,256})(@(?:tcp|unix)\\()`, 'g');
const SQL_PASSWORD = /\b((?:identified\s{1,3}by|with\s{1,3}password|password)\s{1,3}')([^'\n\\"]{1,256})(')/gi;
const CLI_PASSWORD =
  /(\s--?(?:[a-z]{1,20}[-_])?(?:password|passwd|pass|token|secret|api-?key)\s{1,3})([^\s"'\\-][^\s"'\\]{3,255})/gi;

const KEY_BLOCK_HEAD = /-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----/g;
const KEY_BLOCK_BODY = /[A-Za-z0-9+/=\s\\:,.()<>@_-]*/y;
const KEY_BLOCK_TAIL = /-----END (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----/g;
const KEY_BLOCK_LINES = /(?:(?:\s|\\{1,16}[nrt]){0,4}[A-Za-z0-9+/=]{16,})*/y;

/** Takes out secrets that can be told by their own form, wherever they stand. */
export function maskPatterns(text: string, mask: Mask): string {
  return text
    .replace(URL_PASSWORD, (all: string, head: string, secret: string, tail: string) =>
      isMarkOrVariable(secret) ? all : head + mask('url-password', secret) + tail,
    )
    .replace(
      DSN_PASSWORD,
      (_all: string, head: string, secret: string, tail: string) => head + mask('url-password', secret) + tail,
    )
    .replace(SQL_PASSWORD, (all: string, head: string, secret: string, tail: string) =>
      isMarkOrVariable(secret) ? all : head + mask('password', secret) + tail,
    )
    .replace(CLI_PASSWORD, (all: string, head: string, secret: string) =>
      isMarkOrVariable(secret) ? all : head + mask('password', secret),
    )
    .replace(JWT, (secret: string) => mask('jwt', secret))
    .replace(VENDOR_KEY, (secret: string) => mask('api-key', secret))
    .replace(BOT_TOKEN, (secret: string) => mask('api-key', secret))
    .replace(CHAT_WEBHOOK, (_all: string, head: string, secret: string) => head + mask('token', secret))
    .replace(SCHEME_TOKEN, (all: string, scheme: string, space: string, secret: string) =>
      isSchemeSecret(scheme, secret) ? scheme + space + mask('authorization', secret) : all,
    );
}

/** Takes out private keys in PEM or armoured form, also when their end was cut off or their line breaks are escaped. */
export function maskKeyBlocks(text: string, mask: Mask): string {
  let out = '';
  let from = 0;
  // Both are kept between heads, so that no part of the text is searched once per head.
  let reachEnd = 0;
  let tail: { readonly start: number; readonly end: number } | null = { start: 0, end: 0 };
  KEY_BLOCK_HEAD.lastIndex = 0;
  for (let head = KEY_BLOCK_HEAD.exec(text); head !== null; head = KEY_BLOCK_HEAD.exec(text)) {
    const body = head.index + head[0].length;
    if (body > reachEnd) {
      KEY_BLOCK_BODY.lastIndex = body;
      reachEnd = body + (KEY_BLOCK_BODY.exec(text)?.[0].length ?? 0);
    }
    if (tail !== null && tail.start < body) {
      KEY_BLOCK_TAIL.lastIndex = body;
      const found = KEY_BLOCK_TAIL.exec(text);
      tail = found === null ? null : { start: found.index, end: found.index + found[0].length };
    }
    KEY_BLOCK_LINES.lastIndex = body;
    const isWhole = tail !== null && tail.end <= reachEnd;
    const end = isWhole && tail !== null ? tail.end : body + (KEY_BLOCK_LINES.exec(text)?.[0].length ?? 0);
    if (end > body) {
      out += text.slice(from, head.index) + mask('private-key', text.slice(head.index, end));
      from = end;
    }
    KEY_BLOCK_HEAD.lastIndex = end;
  }
  return out + text.slice(from);
}

function isMarkOrVariable(text: string): boolean {
  return /^(?:\[redacted:[a-z:0-9-]*\]?|\*+|x{3,}|\$\{?[A-Za-z_][\w.]*\}?|<[\w -]+>|\{\{?[\w. ]+\}?\}|%[sdv])$/i.test(text);
}

function isSchemeSecret(scheme: string, token: string): boolean {
  if (scheme.toLowerCase() === 'bearer') return /\d/.test(token) || token.length >= 24 || /[a-z][A-Z].*[a-z][A-Z]/.test(token);
  const decoded = Buffer.from(token, 'base64').toString('latin1');
  return decoded.includes(':') && /^[\x20-\x7e]+$/.test(decoded);
}
