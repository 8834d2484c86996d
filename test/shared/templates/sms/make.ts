import type { NewTemplate } from '../../../../shared/templates/sms/template.ts';

export function makeTemplate(overrides: Partial<NewTemplate> = {}): NewTemplate {
  return {
    dltId: '1107160000000000001',
    name: 'Greeting',
    senders: ['HARKRA'],
    routes: ['transactional'],
    content: 'Hi {#var#}',
    status: 'approved',
    ...overrides,
  };
}
