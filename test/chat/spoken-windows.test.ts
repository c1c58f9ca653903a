import { readQuestionWindow } from '../../src/chat/question-window';
import { DiagnosisError } from '../../src/errors/diagnosis-error';

/** The asker's now is a day after the end of the telemetry. */
const NOW = '2026-05-05T09:00:00.000Z';
const ANCHOR = '2026-05-04T14:40:00.000Z';

function read(question: string, timeZone = 'UTC'): string | null {
  const window = readQuestionWindow(question, { timeZone, anchorMs: Date.parse(ANCHOR), nowMs: Date.parse(NOW) });
  return window === null ? null : `${new Date(window.from).toISOString()} ${new Date(window.to).toISOString()}`;
}

const span = (from: string, to: string): string => `2026-05-04T${from}:00.000Z 2026-05-04T${to}:00.000Z`;

const SINCE = span('14:05', '14:40');
const SINCE_HOUR = span('14:00', '14:40');
const RANGE = span('14:00', '14:20');
const HALF_HOUR = span('14:10', '14:40');
const AGO = span('14:10', '14:30');
const AT = span('13:55', '14:15');
const YESTERDAY = span('08:50', '09:10');
const YESTERDAY_EVENING = span('20:50', '21:10');

describe('readQuestionWindow in several languages', () => {
  it.each([
    ['Warum gibt es seit 14:05 Fehler?', SINCE],
    ['Fehler ab 14.05 Uhr, warum?', SINCE],
    ['seit 14 Uhr 05 langsam', SINCE],
    ['seit 14 Uhr langsam', SINCE_HOUR],
    ['seit 16:05 MESZ langsam', SINCE],
    ['was war zwischen 14 und 14:20 Uhr los?', RANGE],
    ['was war zwischen 14:00 und 14:20 los?', RANGE],
    ['von 14 Uhr bis 14:20 Uhr', RANGE],
    ['seit 14:00 bis 14:20', RANGE],
    ['Fehler in der letzten halben Stunde', HALF_HOUR],
    ['letzte halbe Stunde', HALF_HOUR],
    ['Warum ist checkout in den letzten 30 Minuten langsam?', HALF_HOUR],
    ['langsam seit 30 Minuten', HALF_HOUR],
    ['seit einer halben Stunde langsam', HALF_HOUR],
    ['was war in der letzten Stunde?', span('13:40', '14:40')],
    ['was passierte vor 20 Minuten?', AGO],
    ['gestern um 9 fiel checkout aus', YESTERDAY],
    ['gestern um 9 Uhr abends', YESTERDAY_EVENING],
    ['gegen 14:05 Uhr war etwas', AT],
    ['gestern zwischen 14 und 14:20 Uhr', RANGE],
    ['seit gestern 14:05', '2026-05-04T14:05:00.000Z 2026-05-04T14:40:00.000Z'],
    ['am 04.05.2026 um 14:05 Uhr', AT],
    ['am 4.5.2026 zwischen 14 und 14:20 Uhr', RANGE],
    ['Was war gestern?', '2026-05-04T00:00:00.000Z 2026-05-05T00:00:00.000Z'],
  ])('reads German: %p', (question, expected) => {
    expect(read(question)).toBe(expected);
  });

  it.each([
    ['pourquoi des erreurs depuis 14h05 ?', SINCE],
    ['depuis 14:05', SINCE],
    ['que se passe-t-il entre 14h et 14h20 ?', RANGE],
    ['de 14 h à 14 h 20', RANGE],
    ['erreurs pendant les 30 dernières minutes', HALF_HOUR],
    ['lent depuis une demi-heure', HALF_HOUR],
    ['la dernière demi-heure', HALF_HOUR],
    ['la dernière heure', span('13:40', '14:40')],
    ['lent depuis 30 minutes', HALF_HOUR],
    ['panne hier à 9h', YESTERDAY],
    ['panne hier à 9h du soir', YESTERDAY_EVENING],
    ['il y a 20 minutes', AGO],
    ['vers 14h05', AT],
    ['à partir de 14h05', SINCE],
  ])('reads French: %p', (question, expected) => {
    expect(read(question)).toBe(expected);
  });

  it.each([
    ['¿por qué hay errores desde las 14:05?', SINCE],
    ['errores entre las 14 y las 14:20', RANGE],
    ['de 14:00 a 14:20', RANGE],
    ['desde las 14 hay errores', SINCE_HOUR],
    ['errores en los últimos 30 minutos', HALF_HOUR],
    ['la última media hora', HALF_HOUR],
    ['la última hora', span('13:40', '14:40')],
    ['¿qué pasó ayer a las 9?', YESTERDAY],
    ['ayer a las 9 de la noche', null],
    ['hoy a las 2 de la tarde', '2026-05-05T13:50:00.000Z 2026-05-05T14:10:00.000Z'],
    ['¿qué pasó hace 20 minutos?', AGO],
    ['lento desde hace 30 minutos', HALF_HOUR],
    ['a las 14:05 horas', AT],
  ])('reads Spanish: %p', (question, expected) => {
    if (expected === null) expect(() => read(question)).toThrow(/24-hour clock/);
    else expect(read(question)).toBe(expected);
  });

  it.each([
    ['erros desde as 14:05', SINCE],
    ['erros a partir das 14h05', SINCE],
    ['entre as 14 e as 14:20', RANGE],
    ['das 14h às 14h20', RANGE],
    ['nos últimos 30 minutos', HALF_HOUR],
    ['na última meia hora', HALF_HOUR],
    ['o que houve ontem às 9?', YESTERDAY],
    ['o que houve há 20 minutos?', AGO],
    ['o checkout está lento há 30 minutos', HALF_HOUR],
    ['às 14h05', AT],
  ])('reads Portuguese: %p', (question, expected) => {
    expect(read(question)).toBe(expected);
  });

  it.each([
    ['errori dalle 14:05', SINCE],
    ['errori dalle ore 14:05', SINCE],
    ['tra le 14 e le 14:20', RANGE],
    ['dalle 14 alle 14:20', RANGE],
    ['negli ultimi 30 minuti', HALF_HOUR],
    ["nell'ultima mezz'ora", HALF_HOUR],
    ["nell'ultima ora", span('13:40', '14:40')],
    ["cos'è successo ieri alle 9?", YESTERDAY],
    ['ieri alle 9 di sera', YESTERDAY_EVENING],
    ['20 minuti fa', AGO],
    ['lento da 30 minuti', HALF_HOUR],
    ['alle 14:05', AT],
  ])('reads Italian: %p', (question, expected) => {
    expect(read(question)).toBe(expected);
  });

  it.each([
    ['ошибки с 14:05, почему?', SINCE],
    ['между 14:00 и 14:20', RANGE],
    ['с 14:00 до 14:20', RANGE],
    ['с 14 часов медленно', SINCE_HOUR],
    ['за последние 30 минут', HALF_HOUR],
    ['за последние полчаса', HALF_HOUR],
    ['за последний час', span('13:40', '14:40')],
    ['что было вчера в 9?', YESTERDAY],
    ['вчера в 9 вечера', YESTERDAY_EVENING],
    ['20 минут назад', AGO],
    ['около 14:05', AT],
  ])('reads Russian: %p', (question, expected) => {
    expect(read(question)).toBe(expected);
  });

  it.each([
    ['14:05以来有错误', SINCE],
    ['14点05分开始变慢', SINCE],
    ['从14:05开始出错', SINCE],
    ['14点到14点20分之间发生了什么', RANGE],
    ['在14:00和14:20之间', RANGE],
    ['过去30分钟为什么慢？', HALF_HOUR],
    ['过去半小时', HALF_HOUR],
    ['最近一小时', span('13:40', '14:40')],
    ['昨天9点发生了什么', YESTERDAY],
    ['昨天晚上9点', YESTERDAY_EVENING],
    ['20分钟前', AGO],
    ['2026年5月4日14点05分左右', AT],
    ['下午2点半以来', span('14:30', '14:40')],
  ])('reads Chinese: %p', (question, expected) => {
    expect(read(question)).toBe(expected);
  });

  it.each([
    ['14時05分からエラーが出ています', SINCE],
    ['14:05以降遅い', SINCE],
    ['14時から14時20分まで', RANGE],
    ['14:00〜14:20のエラー', RANGE],
    ['過去30分', HALF_HOUR],
    ['過去30分間に何が起きた？', HALF_HOUR],
    ['直近の1時間', span('13:40', '14:40')],
    ['昨日9時に何が起きた？', YESTERDAY],
    ['昨日の午後9時', YESTERDAY_EVENING],
    ['20分前', AGO],
    ['14時05分頃', AT],
    ['１４：０５以降', SINCE],
  ])('reads Japanese: %p', (question, expected) => {
    expect(read(question)).toBe(expected);
  });

  it.each([
    ['what broke 20 minutes ago?', AGO],
    ['it started 30 minutes ago', HALF_HOUR],
    ['slow for the last half hour', HALF_HOUR],
    ['between 14 and 14:20', RANGE],
    ['since 14:00 until 14:20', RANGE],
    ['what broke yesterday at 9?', YESTERDAY],
    ['since yesterday', '2026-05-04T00:00:00.000Z 2026-05-04T14:40:00.000Z'],
    ['what broke 1 day ago?', '2026-05-04T00:00:00.000Z 2026-05-05T00:00:00.000Z'],
    ['14:05 checkout fails', AT],
    ['checkout fails (14:05)', AT],
    ['since 14:05:00.250', '2026-05-04T14:05:00.000Z 2026-05-04T14:40:00.000Z'],
  ])('reads more English: %p', (question, expected) => {
    expect(read(question)).toBe(expected);
  });

  it.each([
    'Why does may-service fail?',
    'What happened in May?',
    'Is the second replica broken?',
    'warum ist der dienst marzo langsam',
    'el servicio marzo falla',
    'why does port 8080 refuse connections?',
    'is v14.05 worse than v14.04?',
    'why does 10.0.0.5:80 refuse?',
    'requests to 10.0.0.5:8080 fail',
    'order 14 of 20 fails',
    'trace 4bf92f3577b34da6a3ce929d0e0e4736 fails at 12:34:56:78:9a:bc',
    'was ist hier los?',
    'Hier stimmt etwas nicht',
    'alle 30 Minuten stürzt der Dienst ab',
    'die Last stieg um 9 Prozent',
    'the batch takes 20 minutes',
    'afecta a las 14 réplicas',
    'le 14 istanze falliscono',
    '14点 14 分 of nothing'.slice(4),
    'ответ 500 в 3 сервисах',
    '3个小时的任务失败了',
    '2台のサーバーが落ちた',
    'the midnight-batch and the yesterday-report job fail',
    'why did retry 2 of 3 fail?',
    'HTTP/1.1 503 from checkout:8080',
    'node-14:05 is down',
  ])('takes no window from %p', (question) => {
    expect(read(question)).toBeNull();
  });

  it.each([
    ['seit 25:99 Fehler', /"25:99" is no time/],
    ['seit 25 Uhr Fehler', /"25 Uhr" is no time/],
    ['depuis 14h75', /"14h75" is no time/],
    ['14点75分以来', /"14点75分" is no time/],
    ['depuis 14h', /"depuis 14h" may be a time of day or a duration/],
    ['seit 14h', /"seit 14h" may be a time of day or a duration/],
    ['desde las 14 réplicas', /"desde las 14" may be a time of day or a number/],
    ['vor 14:05', /"vor 14:05" names the end of a stretch and no start/],
    ['before 14:05', /"before 14:05" names the end/],
    ['avant 14h05', /"avant 14h05" names the end/],
    ['14:05之前', /"14:05之前" names the end/],
    ['in den letzten paar Minuten', /names no certain times/],
    ['in the last few minutes', /names no certain times/],
    ['les dernières minutes', /names no certain times/],
    ['last night', /names no certain times/],
    ['errors since Monday', /"since Monday" names no certain times/],
    ['am Montag um 14:05', /"am Montag" is a day that is not read/],
    ['am 4. Mai um 14:05', /"4\. Mai" is a day/],
    ['le 4 mai à 14h05', /"le 4 mai" is a day/],
    ['el 4 de mayo a las 14:05', /"4 de mayo" is a day/],
    ['вчера вечером в 9:00', /is a day that is not read/],
    ['5月4日14点05分', /"5月4日" is a day/],
    ['12 Uhr nachts seit gestern um 12 Uhr nachts', /24-hour clock/],
    ['seit 14:05 Berliner Zeit', /zone in words/],
    ['depuis 14:05 heure de Paris', /zone in words/],
    ['北京时间14:05以来', /"北京时间" names a zone in words/],
    ['seit 14:05 am 30.02.2026', /2026-02-30" is no day/],
    ['zwischen 14:20 und 2026-05-04T14:00:00Z', /ends before it starts/],
  ])('refuses %p, names what is not understood, and says what would be right', (question, words) => {
    const ask = (): unknown => read(question);
    expect(ask).toThrow(DiagnosisError);
    expect(ask).toThrow(words);
  });

  it('reads clock times of every language in the zone of the asker', () => {
    for (const question of ['seit 16:05', 'depuis 16h05', 'desde las 16:05', 'с 16:05', '16点05分开始', '16時05分から']) {
      expect(read(question, 'Europe/Berlin')).toBe(SINCE);
    }
  });
});
