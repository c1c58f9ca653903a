/** Kinds of component by the words that people use for them, and the words that such a component's name holds. */
const KINDS: readonly (readonly [RegExp, RegExp])[] = [
  [
    /^(?:data ?base|db|datenbank|base de (?:données|datos|dados)|banco(?: de dados)?|баз[аы]? данных)s?$/iu,
    /(?:^|[^a-z])(?:db|rds|sql|database|mysql|mariadb|postgres(?:ql)?|pg|mongo(?:db)?|oracle|cassandra|dynamo(?:db)?|cockroach(?:db)?)(?:[^a-z]|$)/i,
  ],
  [/^(?:cache|zwischenspeicher|caché|кэш)s?$/iu, /(?:^|[^a-z])(?:cache|redis|memcached?|valkey)(?:[^a-z]|$)/i],
  [
    /^(?:message )?(?:queue|broker|bus|warteschlange|file d.attente|cola|fila|coda|очередь)s?$/iu,
    /(?:^|[^a-z])(?:queue|mq|kafka|rabbit(?:mq)?|sqs|nats|pulsar|broker|bus)(?:[^a-z]|$)/i,
  ],
  [
    /^(?:gateway|load ?balancer|proxy|ingress)(?:s|es)?$/iu,
    /(?:^|[^a-z])(?:gateway|gw|lb|loadbalancer|proxy|nginx|envoy|haproxy|ingress|traefik)(?:[^a-z]|$)/i,
  ],
  [/^(?:front ?end|web ?site|web|ui)$/iu, /(?:^|[^a-z])(?:front-?end|web|ui|www)(?:[^a-z]|$)/i],
];

const SERVICE_WORDS: readonly string[] = ['service', 'svc', 'dienst', 'servicio', 'serviço', 'servizio'];

function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

/**
 * The services that a person's word may stand for: the one of that name, else those whose name holds all its words, else,
 * for a kind of component ("the database"), those named like one. Empty when none does: it does not look at what is alike.
 */
export function servicesNamed(subject: string, services: readonly string[]): string[] {
  const asked = subject.trim().replace(/^(?:the|der|die|das|la|le|el|il|o|a) /i, '');
  const words = wordsOf(asked).filter((word) => !SERVICE_WORDS.includes(word));
  if (words.length === 0) return [];
  const exact = services.filter(
    (service) =>
      wordsOf(service)
        .filter((word) => !SERVICE_WORDS.includes(word))
        .join(' ') === words.join(' '),
  );
  if (exact.length > 0) return exact;
  const holding = services.filter((service) => words.every((word) => wordsOf(service).includes(word)));
  if (holding.length > 0) return holding;
  const kind = KINDS.find(([spoken]) => spoken.test(asked))?.[1];
  return kind === undefined ? [] : services.filter((service) => kind.test(wordsOf(service).join(' ')));
}
