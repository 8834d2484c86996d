import { expect } from 'chai';
import { routesOfSenders, templateFaults } from '../../../../shared/templates/sms/template-form.ts';
import { makeTemplate } from './make.ts';

describe('templates/template-form', () => {
  it('has nothing against a template as it should be', () => {
    expect(
      templateFaults(makeTemplate({ entityId: '110100001483', slots: [{ type: 'numeric', max: 6 }] })),
    ).to.deep.equal([]);
  });

  it('lists everything that is wrong', () => {
    const faults = templateFaults({
      dltId: '123456789',
      name: '',
      senders: ['HARKRA', 'not a sender id'],
      routes: [],
      entityId: 'PE1',
      content: '{#Var#} {#',
      slots: [{ type: 'url' }],
      status: 'approved',
    });

    expect(faults.map(({ field }) => field)).to.deep.equal([
      'dltId',
      'name',
      'senders',
      'routes',
      'entityId',
      'content',
      'content',
      'content',
    ]);
    expect(faults[5]?.detail).to.match(/^At character 1: \{#Var#\}/);
  });

  it('says that a spreadsheet has rounded an id', () => {
    expect(templateFaults(makeTemplate({ dltId: '1.10716E+18' }))[0]?.detail).to.match(/spreadsheet has rounded/);
    expect(templateFaults(makeTemplate({ dltId: 'abc' }))[0]?.detail).not.to.match(/spreadsheet/);
  });

  it('takes headers of digits for promotional ones', () => {
    expect(routesOfSenders(['456789'])).to.deep.equal(['promotional']);
    expect(routesOfSenders(['HARKRA'])).to.deep.equal(['transactional']);
    expect(routesOfSenders(['HARKRA', '456789'])).to.deep.equal(['transactional']);
  });
});
