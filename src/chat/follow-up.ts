import { MAX_SUBJECT_LENGTH, type DiagnosisQuery, type QueryFocus } from '../protocol/diagnosis-query';

/** What a message asks of the run before it: a part of the system to look at alone, or something to be told. */
export type FollowUp = Pick<DiagnosisQuery, 'scope' | 'focus'>;

/** A name of up to three words. */
const NAME = String.raw`["'\x60„“«]?([\p{L}\p{N}][\p{L}\p{N}._:/@-]*(?: [\p{L}\p{N}][\p{L}\p{N}._:/@-]*){0,2}?)["'\x60“”»]?`;
/** One word, or what is quoted, so that "only checkout fails" is a sentence and no narrowing. */
const WORD = String.raw`(?:["'\x60„“«]([^"'\x60“”»]+)["'\x60“”»]|([\p{L}\p{N}][\p{L}\p{N}._:/@-]*))(?: (?:service|region|zone|instance|host|node|pod|cluster|dienst|instanz|région|servicio|región|serviço|servizio))?`;
const ARTICLE = String.raw`(?:(?:the|der|die|das|den|dem|le|la|les|el|los|las|il|lo|gli|o|a|os|as) |l['’])?`;
const PLEASE = '(?:,? (?:please|bitte|s.il (?:te|vous) pla[iî]t|por favor|per favore|пожалуйста))?';
const LEAD = '(?:(?:and|but|ok|okay|so|now|then|und|aber|et|mais|y|e|pero|ma|mas|а|и|но),? )?';

function wholeMessage(source: string): RegExp {
  return new RegExp(`^${LEAD}(?:${source})${PLEASE}$`, 'iu');
}

const ONLY_WORDS =
  '(?:show |look at |take |zeig(?:e)? )?(?:only|just(?= (?:for|in|on) )|limit (?:it |this )?to|restrict (?:it |this )?to|nur|seulement|uniquement|solo|sólo|solamente|soltanto|só|apenas|somente|только)(?= )';
const PLACE = '(?:(?:in|for|on|from|at|für|auf|aus|bei|pour|dans|en|sur|para|per|su|em|no|na|для|в|на) )?';
const ONLY = [wholeMessage(`${ONLY_WORDS} ?${PLACE}${ARTICLE}${WORD}`), wholeMessage(`(?:in|for|on) ${ARTICLE}${WORD} only`)];

const WHY_NOT = [
  wholeMessage(
    `why (?:not|isn.t it|is it not|wasn.t it|was it not|couldn.t it be|can.t it be|is(?:n.t)? that not) ${ARTICLE}(?:an? )?${NAME}`,
  ),
  wholeMessage(`(?:warum|wieso|weshalb) (?:ist es |war es )?nicht ${ARTICLE}${NAME}`),
  wholeMessage(`pourquoi (?:pas|ce n.est pas|n.est-ce pas) ${ARTICLE}${NAME}`),
  wholeMessage(`por qu[eé] no (?:es |fue )?${ARTICLE}${NAME}`),
  wholeMessage(`por que não (?:é |foi )?${ARTICLE}${NAME}`),
  wholeMessage(`perch[eé] non (?:è |era )?${ARTICLE}${NAME}`),
  wholeMessage(`почему (?:это )?не ${NAME}`),
];

const LINES = [
  wholeMessage(
    `(?:can you |could you )?(?:show|give|print|list|quote) ?(?:me|us)? ?(?:(?:the|its|those|these|some|actual|raw|log|error|matching) )*(?:lines|logs|log lines|messages)(?: (?:of|for|from) ${ARTICLE}${NAME})?`,
  ),
  wholeMessage(
    `zeige?(?: mir| uns)?(?: bitte)? (?:(?:die|diese|ein paar) )?(?:log|fehler)?-?(?:zeilen|logs|meldungen)(?: (?:von|für|aus) ${ARTICLE}${NAME})?`,
  ),
  wholeMessage(`(?:montre|affiche)(?:z)?(?:-moi|-nous)? les (?:lignes|logs|messages)(?: (?:de|du|pour) ${ARTICLE}${NAME})?`),
  wholeMessage(
    `(?:mu[eé]stra|ense[nñ]a)(?:me|nos) (?:las l[ií]neas|los logs|los mensajes)(?: (?:de|del|para) ${ARTICLE}${NAME})?`,
  ),
  wholeMessage(`(?:mostre|mostra)(?:-me)? (?:as linhas|os logs|as mensagens)(?: (?:de|do|da|para) ${ARTICLE}${NAME})?`),
  wholeMessage(`(?:mostra|fammi vedere)(?:mi)? (?:le righe|i log|i messaggi)(?: (?:di|del|della|per) ${ARTICLE}${NAME})?`),
  wholeMessage(`покажи(?:те)?(?: мне)? (?:строки|логи|сообщения)(?: ${NAME})?`),
];

const CHANGES = [
  wholeMessage(
    `(?:what|which) (?:else )?(?:has |was |had |were |got )?(?:changed|deployed|released|changes(?: were there| happened)?|deploys(?: were there)?)(?: (?:right |just |directly |shortly )?(?<before>before(?:hand)?)(?: (?:that|this|it|then))?)?(?: (?:then|in that time|in this window))?`,
  ),
  wholeMessage(
    `was (?:hat sich |wurde |ist )?(?:(?:direkt |kurz |unmittelbar )?(?<before>davor|vorher|zuvor) )?(?:geändert|verändert|ausgerollt|deployt|deployed|anders)`,
  ),
  wholeMessage(`qu.est-ce qui a changé(?: (?:juste )?(?<before>avant)(?: (?:ça|cela))?)?`),
  wholeMessage(`qu[eé] (?:cambió|ha cambiado|se desplegó)(?: (?:justo )?(?<before>antes)(?: de eso)?)?`),
  wholeMessage(`o que mudou(?: (?:logo )?(?<before>antes)(?: disso)?)?`),
  wholeMessage(`(?:che )?cosa è cambiato(?: (?:subito )?(?<before>prima)(?: di (?:ciò|questo))?)?`),
  wholeMessage(`что (?:изменилось|поменялось)(?: (?:прямо )?(?:(?<before>перед)(?: этим)?|(?:до этого)))?`),
];

function firstOf(forms: readonly RegExp[], message: string): RegExpExecArray | null {
  for (const form of forms) {
    const found = form.exec(message);
    if (found !== null) return found;
  }
  return null;
}

/**
 * Reads a message as a follow-up to an earlier run: "only eu-west" as a scope, "why not the database?", "what changed before
 * that?" and "show me the lines" as what to tell. A closed rule over whole messages: whatever says more, and any doubt, is a
 * question of its own, for which it answers neither. It does not know whether there is an earlier run, and refuses to guess
 * what a name stands for.
 */
export function readFollowUp(message: string): FollowUp {
  const plain = message
    .trim()
    .replace(/^¿/, '')
    .replace(/\s*[.!?？。]+$/, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const lines = firstOf(LINES, plain);
  if (lines !== null) return { focus: focusOf('lines', lines[1]) };
  const changes = firstOf(CHANGES, plain);
  if (changes !== null) {
    return { focus: { ask: 'changes', ...(changes.groups?.['before'] === undefined ? {} : { before: true as const }) } };
  }
  const whyNot = firstOf(WHY_NOT, plain)?.[1];
  if (whyNot !== undefined && whyNot.length <= MAX_SUBJECT_LENGTH) return { focus: focusOf('why_not', whyNot) };
  const found = firstOf(ONLY, plain);
  const only = found?.[1] ?? found?.[2];
  return only !== undefined && only.length <= MAX_SUBJECT_LENGTH ? { scope: { text: only } } : {};
}

function focusOf(ask: QueryFocus['ask'], subject: string | undefined): QueryFocus {
  return subject === undefined || subject.length > MAX_SUBJECT_LENGTH ? { ask } : { ask, subject };
}
