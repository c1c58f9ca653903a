/** Names that Node's list of zones holds under an older spelling. */
const RENAMED = [
  'Africa/Asmara',
  'America/Nuuk',
  'Asia/Ho_Chi_Minh',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Asia/Yangon',
  'Atlantic/Faroe',
  'Europe/Kyiv',
  'Pacific/Chuuk',
  'Pacific/Pohnpei',
] as const;
/** Names of zones that are also those of well known places whose clocks differ. */
const SHARED = ['cordoba', 'merida', 'monticello', 'petersburg', 'salem', 'san juan', 'vincennes'] as const;
/** Names that are everyday words, first names or ships, and so never taken for a city. */
const WORDS = [
  'adak',
  'casey',
  'center',
  'christmas',
  'davis',
  'easter',
  'knox',
  'midway',
  'nome',
  'oral',
  'troll',
  'wake',
  'wallis',
];

/** Zones by the names of their cities, as `fold` writes them; null for a name that may be several. */
const ZONES: ReadonlyMap<string, string | null> = zonesByCity();

function zonesByCity(): Map<string, string | null> {
  const zones = new Map<string, string | null>();
  for (const zone of [...Intl.supportedValuesOf('timeZone'), ...RENAMED]) {
    const city = fold(zone.slice(zone.lastIndexOf('/') + 1));
    const known = zones.get(city);
    zones.set(city, known === undefined || known === zone ? zone : null);
  }
  for (const city of SHARED) zones.set(city, null);
  for (const word of WORDS) zones.delete(word);
  return zones;
}

/** "São_Paulo" as "sao paulo". */
function fold(name: string): string {
  return name
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[\s_-]+/g, ' ')
    .replaceAll(/[.'’]/g, '')
    .toLowerCase();
}

/** The longest name of a city at the start of a text, and its zone. */
interface NamedCity {
  readonly name: string;
  /** Null when the name may be several cities. */
  readonly zone: string | null;
}

/**
 * The city whose name a text starts with, spelt as the IANA names of time zones spell theirs, in any case and with or without
 * accents; null for none. It knows no other places, and does not choose where places of one name keep different clocks.
 */
export function cityAtStart(text: string): NamedCity | null {
  const words = /^[\p{L}.'’-]+(?:[\s_][\p{L}.'’-]+){0,3}/u.exec(text)?.[0].split(/(?<=[\s_])/) ?? [];
  for (let count = words.length; count > 0; count -= 1) {
    const name = words
      .slice(0, count)
      .join('')
      .replace(/[\s.]+$/, '');
    const zone = ZONES.get(fold(name));
    if (zone !== undefined) return { name, zone };
  }
  return null;
}
