/** What kind of secret a name announces; the kind stands in the mark that replaces its value. */
export type CredentialKind =
  'password' | 'token' | 'secret' | 'api-key' | 'authorization' | 'cookie' | 'private-key' | 'jwt' | 'url-password' | 'signature';

const JOINED_ENDINGS: readonly (readonly [RegExp, CredentialKind])[] = [
  [/(?:password|passwd|passphrase|passcode|passwordhash|userpwd|dbpwd|mysqlpwd)$/, 'password'],
  [/(?:secretaccesskey|secretkey|clientsecret|appsecret|sharedsecret|webhooksecret|jwtsecret)$/, 'secret'],
  [
    /(?:apikey|accesskey|accountkey|sharedaccesskey|accesskeyid|encryptionkey|signingkey|masterkey|hmackey|subscriptionkey)$/,
    'api-key',
  ],
  [/privatekey$/, 'private-key'],
  [
    /(?:accesstoken|authtoken|refreshtoken|idtoken|sessiontoken|securitytoken|bearertoken|apitoken|csrftoken|xsrftoken)$/,
    'token',
  ],
  [/(?:jsessionid|phpsessid|connectsid)$/, 'cookie'],
  [/(?:amzsignature|amzcredential)$/, 'signature'],
];

const LAST_WORDS: Readonly<Record<string, CredentialKind>> = {
  pwd: 'password',
  pass: 'password',
  pw: 'password',
  secret: 'secret',
  token: 'token',
  authorization: 'authorization',
  cookie: 'cookie',
  credential: 'secret',
};

/**
 * The kind of secret that a field name announces, or null. Words are told apart by capitals and separators, so that
 * `dbPassword` and `X-Api-Key` announce one while `token_count`, `compass` and `keyboard` do not.
 */
export function kindOfName(name: string): CredentialKind | null {
  if (name.length > 128) return null;
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  const last = words[words.length - 1];
  if (last === undefined) return null;
  if (Object.hasOwn(LAST_WORDS, last)) return LAST_WORDS[last] ?? null;
  const joined = words.join('');
  for (const [ending, kind] of JOINED_ENDINGS) if (ending.test(joined)) return kind;
  return null;
}

/** Words that follow "password:" in ordinary sentences. */
const SENTENCE_WORD =
  /^(?:a|an|and|are|been|cannot|change[ds]?|empty|expire[ds]?|failed|failure|for|from|has|incorrect|in|invalid|is|login|mismatch|missing|must|needed|no|not|ok|on|or|required|requested|reset|should|the|to|too|unset|updated|user|was|were|will|with|wrong|yes)$/i;
const NOTHING =
  /^(?:true|false|null|nil|none|undefined|unknown|yes|no|empty|\*+|x{3,}|-+|\.{2,}|%[sdv]|\$\{?[A-Za-z_][\w.]*\}?|<[\w -]+>|\{\{?[\w. ]+\}?\})$/i;
const MARK = /^(?:[A-Za-z0-9-]{1,24} )?\[redacted:[a-z-]{2,20}:[0-9a-f]{10}\]$/;
export const MARK_AT = /\[redacted:[a-z-]{2,20}:[0-9a-f]{10}\]/y;

/** Whether a value under a telling name is no secret: a switch, a mask, a variable, a mark already, or a small number. */
export function isHarmlessValue(value: string, kind: CredentialKind): boolean {
  if (value === '' || NOTHING.test(value) || MARK.test(value)) return true;
  const digits = /^-?\d{1,12}(?:\.\d{1,6})?$/.test(value) ? value.length : null;
  if (digits === null) return false;
  return kind === 'password' ? digits < 4 : digits < 6;
}

/** Whether the word after `name: ` in a sentence is ordinary language and no secret. */
export function isSentenceWord(word: string, kind: CredentialKind, isLastOfLine: boolean): boolean {
  if (SENTENCE_WORD.test(word)) return true;
  return kind !== 'password' && !isLastOfLine && /^[A-Za-z]{1,15}$/.test(word);
}
