/** Formats of tables: a row a record, columns by name. */
export const TABLE_FORMATS = ['csv', 'jsonl', 'parquet'] as const;
export type TableFormat = (typeof TABLE_FORMATS)[number];

/** Formats whose records stand where the format says. */
export const DOCUMENT_FORMATS = ['otlp', 'jaeger', 'prometheus', 'journal_export'] as const;
export type DocumentFormat = (typeof DOCUMENT_FORMATS)[number];
