import { servicesNamed } from '../../src/agents/analyst/follow-up-subject';

const SERVICES = ['cart', 'cart-db', 'orders-mysql', 'OrderQueue', 'edge-proxy', 'redis-main', 'dbschenker-labels'];

describe('servicesNamed', () => {
  it.each([
    ['cart', ['cart']],
    ['Cart-DB', ['cart-db']],
    ['the cart', ['cart']],
    ['order queue', ['OrderQueue']],
    ['cart service', ['cart']],
    ['database', ['cart-db', 'orders-mysql']],
    ['Datenbank', ['cart-db', 'orders-mysql']],
    ['base de datos', ['cart-db', 'orders-mysql']],
    ['база данных', ['cart-db', 'orders-mysql']],
    ['cache', ['redis-main']],
    ['message queue', ['OrderQueue']],
    ['load balancer', ['edge-proxy']],
    ['mysql', ['orders-mysql']],
  ])('takes %p for %p', (subject, services) => {
    expect(servicesNamed(subject, SERVICES)).toEqual(services);
  });

  it.each(['mainframe', 'car', 'orders', '', 'the', '.*'])('takes %p for nobody', (subject) => {
    expect(servicesNamed(subject, ['cart', 'OrderQueue', 'edge-proxy'])).toEqual([]);
  });
});
