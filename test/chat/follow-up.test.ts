import { readFollowUp } from '../../src/chat/follow-up';

describe('readFollowUp', () => {
  it.each([
    ['only eu-west', 'eu-west'],
    ['Only in eu-west, please.', 'eu-west'],
    ['and only the `stock` service', 'stock'],
    ['only "Frankfurt am Main"', 'Frankfurt am Main'],
    ['just for checkout', 'checkout'],
    ['limit it to node-14', 'node-14'],
    ['in eu-west only', 'eu-west'],
    ['nur eu-west', 'eu-west'],
    ['Nur für checkout bitte', 'checkout'],
    ['seulement eu-west', 'eu-west'],
    ['solo en eu-west', 'eu-west'],
    ['apenas no eu-west', 'eu-west'],
    ['soltanto eu-west', 'eu-west'],
    ['только eu-west', 'eu-west'],
  ])('reads %p as a scope', (message, text) => {
    expect(readFollowUp(message)).toEqual({ scope: { text } });
  });

  it.each([
    ['why not the database?', 'database'],
    ['Why is it not orders-db?', 'orders-db'],
    ["why isn't it the cache", 'cache'],
    ['and why not checkout', 'checkout'],
    ['Warum nicht die Datenbank?', 'Datenbank'],
    ['pourquoi pas la base de données ?', 'base de données'],
    ['¿Por qué no la base de datos?', 'base de datos'],
    ['por que não o banco?', 'banco'],
    ['perché non il database?', 'database'],
    ['почему не база данных?', 'база данных'],
  ])('reads %p as a question why not', (message, subject) => {
    expect(readFollowUp(message)).toEqual({ focus: { ask: 'why_not', subject } });
  });

  it.each([
    ['show me the lines', undefined],
    ['Show me the log lines please', undefined],
    ['show the lines of checkout', 'checkout'],
    ['give me the logs for orders-db', 'orders-db'],
    ['Zeig mir die Zeilen', undefined],
    ['Zeige mir die Logzeilen von checkout', 'checkout'],
    ['montre-moi les lignes', undefined],
    ['muéstrame las líneas', undefined],
    ['mostre-me as linhas', undefined],
    ['mostrami le righe', undefined],
    ['покажи строки', undefined],
  ])('reads %p as a wish for lines', (message, subject) => {
    expect(readFollowUp(message)).toEqual({ focus: { ask: 'lines', ...(subject === undefined ? {} : { subject }) } });
  });

  it.each([
    ['what changed before that?', true],
    ['What was deployed right before that?', true],
    ['what changed?', undefined],
    ['what has changed then', undefined],
    ['Was hat sich davor geändert?', true],
    ['was wurde ausgerollt?', undefined],
    ["qu'est-ce qui a changé avant ça ?", true],
    ['¿Qué cambió antes de eso?', true],
    ['o que mudou antes disso?', true],
    ['cosa è cambiato prima di questo?', true],
    ['что изменилось перед этим?', true],
  ])('reads %p as a wish for changes', (message, before) => {
    expect(readFollowUp(message)).toEqual({ focus: { ask: 'changes', ...(before === undefined ? {} : { before }) } });
  });

  it.each([
    'only the first request of each minute fails',
    'why is checkout slow?',
    'why not restart the database and see whether it helps tomorrow morning?',
    'what changed in the answer of the payment service?',
    'show me the lines where a user is named and explain them',
    'just tell me why',
    'just checking',
    'only checkout fails',
    'onlyfans',
    'show the last answer',
    'what about the database?',
    `only ${'x'.repeat(101)}`,
    'only',
    '',
  ])('reads nothing into %p', (message) => {
    expect(readFollowUp(message)).toEqual({});
  });
});
