import { createHmac, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Redactor } from '../ports/redactor.port';
import { maskJson } from './credential-json';
import { maskPairs } from './credential-pairs';
import { maskKeyBlocks, maskPatterns, type Mask } from './credential-patterns';
import { maskPhrases } from './credential-phrases';

/** JSON within JSON is looked into this deep; deeper it is plain text. */
const MAX_DEPTH = 6;
/** A mark may complete a pattern that was none before; so often the text is looked at again. */
const MAX_PASSES = 5;
/** A cheap sign that there may be something to take out; without it a text is done. */
const SIGN =
  /pass|pwd|\bpw\b|secret|token|key|auth|cookie|sess|\.sid|signature|credential|bearer|basic|identified|mysql|mariadb|mongo|ldap|curl|redis-cli|(?:docker|podman|registry)\slogin|:\\{0,8}\/\\{0,8}\/|@(?:tcp|unix)\(|eyJ|-----BEGIN|AKIA|ASIA|AIza|ya29|GOCSPX|NRAK|ATATT3|SG\.|SK[0-9a-f]{8}|dapi|hooks\.slack|\d:AA|dp\.|hv[sbr]\.|(?:sk|rk|pk|gsk|hf|npm|whsec|gh[pousr]|github_pat|do[oprt]|shp[a-z]{2}|lin_api)_|(?:sk|xapp|pypi|xox[abeoprs]|gl[a-z]{2,3})-/i;

/**
 * Takes credentials out of text, JSON and JSON within text: each becomes `[redacted:<kind>:<10 hex digits>]`, where the digits
 * are an HMAC under a key that lives and dies with the process, so that equal secrets look equal and nothing of them shows.
 * Valid JSON stays valid JSON, and a text that was redacted stays as it is. It refuses to guess: text without a telling name,
 * prefix or form is left alone.
 */
@Injectable()
export class CredentialRedactor extends Redactor {
  private readonly key = randomBytes(32);
  private readonly mask: Mask = (kind, secret) =>
    `[redacted:${kind}:${createHmac('sha256', this.key).update(secret).digest('hex').slice(0, 10)}]`;

  override redact(text: string): string {
    let current = text;
    for (let pass = 0; pass < MAX_PASSES; pass += 1) {
      const next = this.pass(current, 0);
      if (next === current) return current;
      current = next;
    }
    return current;
  }

  private pass(text: string, depth: number): string {
    if (text.length < 8 || !SIGN.test(text)) return text;
    if (depth < MAX_DEPTH) {
      if (isJson(text)) return maskJson(text, this.mask, (inner) => this.pass(inner, depth + 1));
      if (text.includes('\n') && /(?:^|\n)[ \t]{0,8}[{[]/.test(text)) return this.passLines(text, depth);
    }
    return this.plain(text);
  }

  /** JSON lines are documents of their own; what stands between them is one text, because key blocks have several lines. */
  private passLines(text: string, depth: number): string {
    const out: string[] = [];
    let plain: string[] = [];
    const flush = (): void => {
      if (plain.length > 0) out.push(this.plain(plain.join('\n')));
      plain = [];
    };
    for (const line of text.split('\n')) {
      if (isJson(line)) {
        flush();
        out.push(this.pass(line, depth + 1));
      } else plain.push(line);
    }
    flush();
    return out.join('\n');
  }

  private plain(text: string): string {
    if (!SIGN.test(text)) return text;
    return maskPatterns(maskPhrases(maskPairs(maskKeyBlocks(text, this.mask), this.mask), this.mask), this.mask);
  }
}

function isJson(text: string): boolean {
  if (!/^\s*["[{]/.test(text) || !/["\]}]\s*$/.test(text.slice(-64))) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
