import { z } from 'zod';
import { instantSchema } from '../diagnosis-query';
import type { FieldDeclaration } from '../tool-output';

const count = z.number().int().min(0);

/**
 * `data` of `telemetry_overview`. `families` has a row for each kind of telemetry that is there, whatever was asked;
 * `services` one for each service of a family, the ones with the most records first; times are null where records have none.
 */
export const telemetryOverviewDataSchema = z.strictObject({
  families: z.array(
    z.strictObject({
      family: z.string(),
      records: count,
      records_rejected: count,
      services_total: count,
      first_seen: instantSchema.nullable(),
      last_seen: instantSchema.nullable(),
    }),
  ),
  services: z.array(
    z.strictObject({
      service: z.string(),
      family: z.string(),
      records: count,
      first_seen: instantSchema.nullable(),
      last_seen: instantSchema.nullable(),
    }),
  ),
  rows_total: count,
  files: count,
  files_skipped: count,
});
export type TelemetryOverviewData = z.infer<typeof telemetryOverviewDataSchema>;

/** What the fields of `telemetry_overview` mean. */
export const TELEMETRY_OVERVIEW_FIELDS: Readonly<Record<string, FieldDeclaration>> = {
  family: { unit: 'text' },
  records: { unit: 'count' },
  records_rejected: { unit: 'count' },
  services_total: { unit: 'count' },
  first_seen: { unit: 'instant' },
  last_seen: { unit: 'instant' },
  service: { unit: 'text', entity: true },
  rows_total: { unit: 'count' },
  files: { unit: 'count' },
  files_skipped: { unit: 'count' },
};
