/** What a strict parser answers: the document, or why it is none. `problems` are short and hold no text of the document. */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      readonly reason_code: 'OUTPUT_MISSING' | 'OUTPUT_NOT_JSON' | 'OUTPUT_BREAKS_CONTRACT';
      readonly problems: readonly string[];
    };
