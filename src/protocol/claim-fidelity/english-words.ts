/**
 * English words by which a sentence compares, negates, quantifies or asserts a cause. The lists err on the side of finding
 * one: a sentence that is found is not lost, it only caps the verdict until the claim is typed.
 */
const COMPARING =
  /\b(?:more|less|fewer|than|higher|lower|greater|larger|smaller|bigger|faster|slower|longer|shorter|earlier|later|newer|older|exceed(?:s|ed|ing)?|above|below|over|under|beyond|increas\w*|decreas\w*|ris(?:e|es|en|ing)|rose|fall(?:s|en|ing)?|fell|drop(?:s|ped|ping)?|grow(?:s|n|ing|th)?|grew|spik\w*|jump\w*|climb\w*|surg\w*|declin\w*|doubl\w*|tripl\w*|twice|thrice|halv\w*|worse\w*|better|degrad\w*|improv\w*|elevated|abnormal\w*|unusual\w*|anomal\w*|normal\w*|compar\w*|versus|vs|relative|differ\w*|same|equal\w*|unchanged|outlier\w*|double-digit|at least|at most|up from|down from|went (?:up|down))\b|[<>≤≥≠→]|\s=\s/giu;
const RISING =
  /\b(?:more|higher|greater|larger|increas\w*|ris(?:e|es|en|ing)|rose|grow(?:s|n|ing|th)?|grew|spik\w*|jump\w*|climb\w*|surg\w*|doubl\w*|tripl\w*|up from|went up|exceed(?:s|ed|ing)?|above)\b/iu;
const FALLING =
  /\b(?:less|fewer|lower|smaller|decreas\w*|fall(?:s|en|ing)?|fell|drop(?:s|ped|ping)?|declin\w*|halv\w*|down from|went down|below|under)\b/iu;
const NEGATING =
  /\b(?:no|not|never|none|without|neither|nor|nothing|nobody|nowhere|cannot|absen\w*|lack(?:s|ed|ing)?|hardly|barely|unaffected|isn't|wasn't|zero)\b|n['’]t\b/giu;
const QUANTIFYING =
  /\b(?:all|every|each|any|only|most|least|majority|minority|many|few|several|both|always|mostly|mainly|entire(?:ly)?|whole|solely|exclusively|half|hundreds|thousands|dozens|millions|almost all|highest|lowest|largest|smallest|greatest|biggest|fastest|slowest|longest|shortest|earliest|latest|newest|oldest|worst|best|top|first|last|max(?:imum)?|minimum|peak\w*|dominant|dominat\w*|unique|sole|everything|everyone|none)\b/giu;
const CAUSAL =
  /\b(?:because|caus(?:e|es|ed|ing|al|ally)|due to|owing to|thanks to|led to|leads? to|leading to|result(?:s|ed|ing)? (?:in|from)|as a result|consequen\w*|trigger(?:s|ed|ing)?|provok\w*|induc(?:e|es|ed|ing)|responsible for|root cause|stem(?:s|med|ming)? from|brought (?:about|down)|attribut\w*|hence|therefore|thus|thereby|so that|which is why|the reason|blame\w*|explain(?:s|ed|ing)?|made \w+ (?:fail|crash|slow|time)|culprits?|(?:source|origin|fault) of(?! the (?:line|text|message|value)))\b|(?:[-=]+>|[\u2190-\u21FF\u27F0-\u27FF\u2900-\u297F\u2794-\u27BE])(?!\s*[-+\u2212]?\d)/iu;

/** Which kinds of word a sentence holds; the sentence is given without its quotations. */
export interface WordFindings {
  readonly compares: boolean;
  readonly negates: boolean;
  readonly quantifies: boolean;
  readonly rising: boolean;
  readonly falling: boolean;
  readonly causal: boolean;
}

export function findWords(sentence: string): WordFindings {
  return {
    compares: sentence.search(COMPARING) !== -1,
    negates: sentence.search(NEGATING) !== -1,
    quantifies: sentence.search(QUANTIFYING) !== -1,
    rising: RISING.test(sentence),
    falling: FALLING.test(sentence),
    causal: CAUSAL.test(sentence),
  };
}
