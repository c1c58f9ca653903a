/** Units as the English reader knows them. */
export const TIME_UNITS = ['seconds', 'minutes', 'hours', 'days'] as const;
export type TimeUnit = (typeof TIME_UNITS)[number];

/**
 * How one language speaks of times: sources of regular expressions, matched without case between characters that are no
 * letters or digits; a space stands for any white space. It holds no word that means something else in another language
 * unless its neighbours decide ("hier" is French beside a clock time, never alone).
 */
export interface TimeLanguage {
  /** Clock times beyond 14:05; the first two numbers in them are hour and minute. */
  readonly clock: string;
  /** Article that makes a bare number an hour ("las 14"). */
  readonly article: string;
  /** Prepositions that hold the article, apart: written, then preposition and article. */
  readonly contractions: readonly (readonly [string, string])[];
  readonly since: string;
  readonly at: string;
  /** Opening and joining words of a range. */
  readonly ranges: readonly (readonly [string, string])[];
  /** Words before the end of a stretch, of which no start is named. */
  readonly until: string;
  readonly yesterday: string;
  readonly today: string;
  /** Whether the day words alone decide, without a clock time beside them. */
  readonly plainDays: boolean;
  /** Forms of "last N units" and "for N units": {n} a number, {u} a unit, {1} one unit, {h} half or a quarter of an hour. */
  readonly last: readonly string[];
  /** Stretches back from now whose length nobody can tell. */
  readonly vague: string;
  /** Forms of "N units ago". */
  readonly ago: readonly string[];
  readonly units: Readonly<Record<TimeUnit, string>>;
  /** The units in the singular. */
  readonly single: Readonly<Record<Exclude<TimeUnit, 'seconds'>, string>>;
  readonly numbers: Readonly<Record<string, number>>;
  /** Half an hour and a quarter of one. */
  readonly half: string;
  readonly quarter: string;
  /** Parts of the day behind a clock time: after noon, before noon, and nights, which hold both. */
  readonly afternoon: string;
  readonly morning: string;
  readonly night: string;
  /** Part of the day around noon, from 11 to 3. */
  readonly noonish: string;
  /** Noon and midnight as moments, an article before them included, and prepositions that hold that article, apart. */
  readonly noon: string;
  readonly midnight: string;
  readonly namedContractions: readonly (readonly [string, string])[];
  /** Words that make another time of an hour behind them ("halb drei") or before them ("las 2 y media"), which are not read. */
  readonly beforeHour: string;
  readonly afterHour: string;
  /** Days that are not read: weekdays, months beside a number, tomorrow, the day before yesterday. */
  readonly otherDays: string;
  /** Zones in words, which are not read. */
  readonly zone: string;
  /** Words that cannot follow a number as what is counted. */
  readonly small: string;
}

const NEVER = '(?!)';

export const ENGLISH: TimeLanguage = {
  clock: String.raw`\d{1,2} in the (?:morning|afternoon|evening)`,
  article: NEVER,
  contractions: [],
  since: 'since|after(?! (?:yesterday|today))',
  at: 'at|around|about|near',
  ranges: [
    ['between', 'and'],
    ['(?:from|since)', '(?:to|until|till)'],
  ],
  until: 'before|until|till|prior to|up to',
  yesterday: 'yesterday',
  today: 'today',
  plainDays: true,
  last: [
    '(?:last|past|previous) {h}',
    '(?:since|started|starting|began)(?: about| around)? (?:{n} {u}|{h}) ago',
    'since(?: about| around)? (?:{n} {u}|{h})',
  ],
  vague:
    '(?:last|past) (?:(?:few|couple of|several|some) )?(?:seconds|minutes|hours|days)|(?:last|past|this) (?:week|month|night|morning|afternoon|evening)|(?:a few|some|several) (?:minutes|hours|days) ago|(?:on|since) (?:last )?(?:mon|tues|wednes|thurs|fri|satur|sun)day',
  ago: ['{h} ago'],
  units: { seconds: 'secs?|seconds?', minutes: 'mins?|minutes?', hours: 'hrs?|hours?', days: 'days?' },
  single: { minutes: NEVER, hours: NEVER, days: NEVER },
  numbers: { a: 1, an: 1, one: 1, two: 2, three: 3, four: 4, five: 5, ten: 10, fifteen: 15, twenty: 20, thirty: 30, forty: 40 },
  half: 'half (?:an )?hour',
  quarter: 'quarter (?:of an )?hour',
  afternoon: 'in the (?:afternoon|evening)',
  morning: 'in the morning',
  night: 'at night',
  noonish: NEVER,
  noon: 'noon|midday',
  midnight: 'midnight',
  namedContractions: [],
  beforeHour:
    '(?:a )?(?:half|quarter|five|ten|twenty) (?:past|to) (?:noon|midnight|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\\d{1,2})',
  afterHour: 'o.?clock',
  otherDays: NEVER,
  zone: NEVER,
  small: NEVER,
};

const GERMAN: TimeLanguage = {
  clock: String.raw`\d{1,2}(?:[:.]\d{2})?\s?Uhr(?:\s?\d{2}(?!\d))?`,
  article: NEVER,
  contractions: [],
  since: 'seit(?: etwa| ca\\.?| ungefähr)?|ab|nach|beginnend um|begann um|begonnen um',
  at: 'um|gegen|etwa um|ungefähr um',
  ranges: [
    ['zwischen', 'und'],
    ['(?:von|vom|seit|ab)', 'bis'],
  ],
  until: 'vor|bis',
  yesterday: 'gestern',
  today: 'heute',
  plainDays: true,
  last: ['(?:letzte|vergangene|vorige)[nrms]? (?:{n} {u}|{1}|{h})', 'seit(?: etwa| ca\\.?| ungefähr)? (?:{n} {u}|{h})'],
  vague:
    '(?:letzte|vergangene)[nr]? (?:paar |wenigen )?(?:sekunden|minuten|stunden|tage|woche|nacht)|(?:heute|gestern) (?:früh|morgen|vormittag|mittag|nachmittag)|vor (?:einigen|wenigen|ein paar) (?:minuten|stunden|tagen)|(?:am|seit) (?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)',
  ago: ['vor(?: etwa| ca\\.?| ungefähr)? (?:{n} {u}|{h})'],
  units: { seconds: 'sek|sekunden?', minutes: 'min|minuten?', hours: 'std|stunden?', days: 'tag(?:en?)?' },
  single: { minutes: 'minute', hours: 'stunde', days: 'tag' },
  numbers: {
    ein: 1,
    eine: 1,
    einer: 1,
    einem: 1,
    zwei: 2,
    drei: 3,
    vier: 4,
    fünf: 5,
    zehn: 10,
    fünfzehn: 15,
    zwanzig: 20,
    dreißig: 30,
  },
  half: '(?:einer |eine )?halben? stunde',
  quarter: '(?:einer |eine )?viertelstunde',
  afternoon: 'abends|nachmittags|am abend|am nachmittag',
  morning: 'morgens|vormittags|früh|am morgen|am vormittag',
  night: 'nachts|in der nacht',
  noonish: 'mittags|am mittag',
  noon: 'mittag',
  midnight: 'mitternacht',
  namedContractions: [['zu', 'um']],
  beforeHour:
    '(?:halb|viertel(?: vor| nach)?|dreiviertel|kurz (?:vor|nach)) (?:mitternacht|eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|\\d{1,2})',
  afterHour: NEVER,
  otherDays: String.raw`(?:am |letzten |diesen )?(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag)|vorgestern|\d{1,2}\.\s?(?:januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember)|gestern abend|heute abend|gestern nacht|heute nacht|gestern (?:nach)?mittag|heute (?:nach)?mittag`,
  zone: String.raw`\(?(?:\p{L}+er Zeit|Ortszeit|Lokalzeit)`,
  small: NEVER,
};

const FRENCH: TimeLanguage = {
  clock: String.raw`\d{1,2}\s?h\s?\d{2}(?:\s?min)?|\d{1,2}\s?h|\d{1,2}\s?heures?(?:\s\d{2}(?!\d))?`,
  article: NEVER,
  contractions: [],
  since: 'depuis|à partir de|après|dès',
  at: 'à|vers|autour de|aux alentours de',
  ranges: [
    ['entre', 'et'],
    ['de', '(?:à|jusqu.à)'],
  ],
  until: 'avant|jusqu.à',
  yesterday: 'hier',
  today: 'aujourd.hui',
  plainDays: false,
  last: ['{n} (?:dernières?|derniers?) {u}', '(?:dernier|dernière) (?:{1}|{h})', 'depuis(?: environ)? (?:{n} {u}|{h})'],
  vague:
    '(?:dernières|derniers) (?:secondes|minutes|heures|jours)|la semaine dernière|ce matin|il y a quelques (?:minutes|heures|jours)|depuis quelques (?:minutes|heures|jours)|depuis (?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)',
  ago: ['il y a(?: environ)? (?:{n} {u}|{h})'],
  units: { seconds: 's|secondes?', minutes: 'min|minutes?', hours: 'heures?', days: 'jours?' },
  single: { minutes: 'minute', hours: 'heure', days: 'jour' },
  numbers: { un: 1, une: 1, deux: 2, trois: 3, quatre: 4, cinq: 5, dix: 10, quinze: 15, vingt: 20, trente: 30 },
  half: '(?:une )?demi-?\\s?heure',
  quarter: "(?:un )?quart d'heure",
  afternoon: 'du soir|de l.après-midi',
  morning: 'du matin',
  night: 'de la nuit',
  noonish: NEVER,
  noon: '(?<!apr[eè]s )midi',
  midnight: 'minuit',
  namedContractions: [['du', 'de']],
  beforeHour: NEVER,
  afterHour: 'et (?:demie?|quart)|moins',
  otherDays: String.raw`(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)|avant-hier|(?:le )?\d{1,2}(?:er)? (?:janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre)|hier soir|ce soir|cette nuit|hier après-midi|cet après-midi`,
  zone: String.raw`\(?heure (?:de |d.|locale)\p{L}*\)?`,
  small: NEVER,
};

const SPANISH: TimeLanguage = {
  clock: String.raw`las? \d{1,2}(?:[:.]\d{2})?\s?(?:h|hs|horas?)|\d{1,2}[:.]\d{2}\s?(?:h|hs|horas)|\d{1,2}h\d{2}`,
  article: 'las?',
  contractions: [],
  since: 'desde|a partir de|después de|tras',
  at: 'a|sobre|hacia|alrededor de|cerca de',
  ranges: [
    ['entre', 'y'],
    ['(?:de|desde)', '(?:a|hasta)'],
  ],
  until: 'antes de|hasta',
  yesterday: 'ayer',
  today: 'hoy',
  plainDays: true,
  last: ['últim[oa]s {n} {u}', 'últim[oa] (?:{1}|{h})', 'desde hace(?: unos| unas)? (?:{n} {u}|{h})'],
  vague:
    'últim[oa]s (?:segundos|minutos|horas|días)|esta mañana|la semana pasada|hace (?:unos|unas|algunos|algunas|pocos|pocas) (?:minutos|horas|días)|desde el (?:lunes|martes|miércoles|jueves|viernes|sábado|domingo)',
  ago: ['hace(?: unos| unas)? (?:{n} {u}|{h})'],
  units: { seconds: 's|seg|segundos?', minutes: 'min|minutos?', hours: 'horas?', days: 'días?' },
  single: { minutes: 'minuto', hours: 'hora', days: 'día' },
  numbers: { un: 1, uno: 1, una: 1, dos: 2, tres: 3, cuatro: 4, cinco: 5, diez: 10, quince: 15, veinte: 20, treinta: 30 },
  half: 'media hora',
  quarter: 'cuarto de hora',
  afternoon: 'de la tarde',
  morning: 'de la mañana|de la madrugada',
  night: 'de la noche',
  noonish: 'de(?:l| el)? mediod[ií]a',
  noon: '(?:el )?mediod[ií]a',
  midnight: '(?:la )?media(?: )?noche',
  namedContractions: [
    ['al', 'a'],
    ['del', 'de'],
  ],
  beforeHour: NEVER,
  afterHour: 'y (?:media|cuarto|pico)|menos',
  otherDays: String.raw`(?:el )?(?:lunes|martes|miércoles|jueves|viernes|sábado|domingo)|ante(?:ayer|anoche)|anoche|\d{1,2} de (?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)|esta (?:tarde|noche)|ayer por la (?:tarde|noche)`,
  zone: String.raw`\(?(?:en |de )?hora (?:de |local)[\p{L} ]*\)?`,
  small: 'hay|hubo|había|no|se|el|la|los|las|un|una|con|en|que|y|está|están|todo|muchos|muchas',
};

const PORTUGUESE: TimeLanguage = {
  clock: String.raw`(?:as )?\d{1,2}\s?h\s?\d{2}(?:\s?min)?|as \d{1,2}\s?(?:h|horas?)`,
  article: 'as',
  contractions: [
    ['às', 'a as'],
    ['das', 'de as'],
    ['pelas', 'por as'],
  ],
  since: 'desde|a partir de|depois de|após',
  at: 'a|por|por volta de',
  ranges: [
    ['entre', 'e'],
    ['(?:de|desde|a partir de)', '(?:a|até|até a)'],
  ],
  until: 'antes de|até|até a',
  yesterday: 'ontem',
  today: 'hoje',
  plainDays: true,
  last: ['últim[oa]s {n} {u}', 'últim[oa] (?:{1}|{h})', '(?:desde|est(?:á|ão)[\\p{L} ]{0,40}) há(?: cerca de)? (?:{n} {u}|{h})'],
  vague:
    'últim[oa]s (?:segundos|minutos|horas|dias)|hoje de manhã|(?:na )?semana passada|há (?:alguns|algumas|poucos|poucas) (?:minutos|horas|dias)|desde (?:segunda|terça|quarta|quinta|sexta)-feira',
  ago: ['há(?: cerca de| uns| umas)? (?:{n} {u}|{h})(?: atrás)?', '(?:{n} {u}|{h}) atrás'],
  units: { seconds: 's|seg|segundos?', minutes: 'min|minutos?', hours: 'horas?', days: 'dias?' },
  single: { minutes: 'minuto', hours: 'hora', days: 'dia' },
  numbers: { um: 1, uma: 1, dois: 2, duas: 2, três: 3, quatro: 4, cinco: 5, dez: 10, quinze: 15, vinte: 20, trinta: 30 },
  half: 'meia hora',
  quarter: 'quarto de hora',
  afternoon: 'da tarde',
  morning: 'da manhã|da madrugada',
  night: 'da noite',
  noonish: NEVER,
  noon: '(?:o )?meio(?:-| )dia',
  midnight: '(?:a )?meia(?:-| )noite',
  namedContractions: [
    ['ao', 'a'],
    ['à', 'a'],
    ['do', 'de'],
    ['da', 'de'],
    ['pelo', 'por'],
    ['pela', 'por'],
  ],
  beforeHour: NEVER,
  afterHour: 'e (?:meia|um quarto|pouco)',
  otherDays: String.raw`(?:segunda|terça|quarta|quinta|sexta)-feira|anteontem|\d{1,2} de (?:janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro)|(?:ontem|hoje) à (?:tarde|noite)`,
  zone: String.raw`\(?(?:no )?hor(?:a|ário) (?:de |local)[\p{L} ]*\)?`,
  small: 'há|houve|não|o|a|os|as|um|uma|com|em|que|e|está|estão|tudo|muitos|muitas',
};

const ITALIAN: TimeLanguage = {
  clock: String.raw`(?:le )?ore \d{1,2}(?:[:.]\d{2})?|le \d{1,2}[:.]\d{2}`,
  article: 'le',
  contractions: [
    ['dalle', 'da le'],
    ['alle', 'a le'],
    ['delle', 'di le'],
  ],
  since: 'da|a partire da|dopo',
  at: 'a|verso|intorno a',
  ranges: [
    ['(?:tra|fra)', 'e'],
    ['da', '(?:a|fino a)'],
  ],
  until: 'prima di|fino a|entro',
  yesterday: 'ieri',
  today: 'oggi',
  plainDays: true,
  last: ['ultim[ie] {n} {u}', 'ultim[oa] (?:{1}|{h})', 'da(?: circa)? (?:{n} {u}|{h})'],
  vague:
    'ultim[ie] (?:secondi|minuti|ore|giorni)|stamattina|questa mattina|la settimana scorsa|(?:alcuni|pochi|qualche) (?:minuti|minuto|ore|giorni) fa|da (?:lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica)',
  ago: ['(?:{n} {u}|{h}) fa'],
  units: { seconds: 's|sec|second[oi]', minutes: 'min|minut[oi]', hours: 'or[ae]', days: 'giorn[oi]' },
  single: { minutes: 'minuto', hours: 'ora', days: 'giorno' },
  numbers: {
    un: 1,
    uno: 1,
    una: 1,
    "un'": 1,
    due: 2,
    tre: 3,
    quattro: 4,
    cinque: 5,
    dieci: 10,
    quindici: 15,
    venti: 20,
    trenta: 30,
  },
  half: 'mezz.\\s?ora',
  quarter: '(?:un )?quarto d.ora',
  afternoon: 'di sera|della sera|del pomeriggio',
  morning: 'di mattina|del mattino|della mattina',
  night: 'di notte|della notte',
  noonish: NEVER,
  noon: 'mezzogiorno',
  midnight: '(?:la )?mezzanotte',
  namedContractions: [
    ['dalla', 'da'],
    ['alla', 'a'],
    ['dal', 'da'],
    ['al', 'a'],
  ],
  beforeHour: NEVER,
  afterHour: 'e (?:mezz[ao]|un quarto)|meno',
  otherDays: String.raw`(?:lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica)|(?:l.altro ieri|avantieri)|\d{1,2} (?:gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre)|ieri (?:sera|notte|pomeriggio)|stasera|stanotte`,
  zone: String.raw`\(?ora (?:di |locale|italiana)[\p{L} ]*\)?`,
  small: 'c.è|ci|non|si|il|lo|la|i|gli|le|un|una|con|in|che|e|è|sono|tutto|molti|molte',
};

const RUSSIAN: TimeLanguage = {
  clock: String.raw`\d{1,2}(?:\.\d{2})?\s?(?:час(?:а|ов|ами|ам)?|ч\.?)(?:\s?\d{1,2}\s?(?:минут[аы]?|мин\.?))?|\d{1,2}:\d{2}\s?ч\.?`,
  article: NEVER,
  contractions: [],
  since: 'с|со|начиная с|после',
  at: 'в|во|около|примерно в',
  ranges: [
    ['между', 'и'],
    ['(?:с|от)', '(?:до|по)'],
  ],
  until: 'до|перед',
  yesterday: 'вчера',
  today: 'сегодня',
  plainDays: true,
  last: ['последни(?:е|х) (?:{n} {u}|{h})', 'последн(?:ий|юю) {1}', 'уже (?:{n} {u}|{h})'],
  vague:
    'последние (?:несколько )?(?:секунды|минуты|часы|дни|минут|часов|дней)|на прошлой неделе|сегодня утром|несколько (?:минут|часов|дней) назад|с (?:понедельника|вторника|среды|четверга|пятницы|субботы|воскресенья)',
  ago: ['(?:{n} {u}|{1}|{h}) назад'],
  units: { seconds: 'сек|секунд[уыа]?', minutes: 'мин|минут[уыа]?', hours: 'час(?:а|ов)?', days: 'день|дн(?:я|ей)|сут(?:ки|ок)' },
  single: { minutes: 'минуту', hours: 'час', days: 'день' },
  numbers: {
    один: 1,
    одну: 1,
    два: 2,
    две: 2,
    три: 3,
    четыре: 4,
    пять: 5,
    десять: 10,
    пятнадцать: 15,
    двадцать: 20,
    тридцать: 30,
  },
  half: 'полчаса',
  quarter: 'четверть часа',
  afternoon: 'вечера|дня',
  morning: 'утра',
  night: 'ночи',
  noonish: NEVER,
  noon: '(?:полдень|полудня|полудню|полуднем)',
  midnight: '(?:полночь|полуночи|полночи|полуночью)',
  namedContractions: [],
  beforeHour:
    'пол(?:первого|второго|третьего|четв[её]ртого|пятого|шестого|седьмого|восьмого|девятого|десятого|одиннадцатого|двенадцатого)',
  afterHour: NEVER,
  otherDays: String.raw`(?:во? )?(?:понедельник|вторник|сред[ау]|четверг|пятниц[ау]|суббот[ау]|воскресенье)|позавчера|\d{1,2} (?:января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря)|(?:вчера|сегодня) (?:вечером|ночью|днём|днем)`,
  zone: String.raw`по \p{L}+ времени|мск`,
  small: NEVER,
};

/** Languages whose words are apart. English is among them for the forms that its own reader has not. */
export const SPACED_LANGUAGES: readonly TimeLanguage[] = [ENGLISH, GERMAN, FRENCH, SPANISH, PORTUGUESE, ITALIAN, RUSSIAN];
