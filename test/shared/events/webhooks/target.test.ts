import { readFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';
import { newSecret } from '../../../../shared/events/webhooks/endpoint-store.ts';
import { secretKey, signature } from '../../../../shared/events/webhooks/target.ts';

interface Vector {
  readonly secret: string;
  readonly id: string;
  readonly timestamp: number;
  readonly body: string;
  readonly signature: string;
}

const fixture = new URL('../../../fixtures/webhook-signatures.json', import.meta.url);
const { cases }: { cases: readonly Vector[] } = JSON.parse(readFileSync(fixture, 'utf8'));

describe('webhooks/sign', () => {
  it('there are vectors', () => {
    expect(cases).to.have.length.greaterThan(2);
  });

  for (const vector of cases) {
    it(`signs ${vector.id} at ${vector.timestamp} as the vector says, and as npm standardwebhooks does`, () => {
      const ours = signature([secretKey(vector.secret)], vector.id, vector.timestamp, Buffer.from(vector.body));

      expect(ours).to.equal(vector.signature);
      expect(ours).to.equal(new Webhook(vector.secret).sign(vector.id, new Date(vector.timestamp * 1000), vector.body));
    });
  }

  it('during a rotation the holder of either secret can verify', () => {
    const secrets = [newSecret(), newSecret()];
    const now = Math.floor(Date.now() / 1000);
    const body = Buffer.from('{"event":"message.sent","name":"नमस्ते"}');

    const value = signature(secrets.map(secretKey), 'evt_1_sent', now, body);

    const headers = { 'webhook-id': 'evt_1_sent', 'webhook-timestamp': String(now), 'webhook-signature': value };
    for (const secret of secrets) expect(new Webhook(secret).verify(body, headers)).to.have.property('name');
    expect(() => new Webhook(newSecret()).verify(body, headers)).to.throw('No matching signature');
    expect(value.split(' ')).to.have.length(2);
  });

  it('a new secret is whsec_ and 32 random bytes in base64', () => {
    const secret = newSecret();

    expect(secret).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(secretKey(secret).symmetricKeySize).to.equal(32);
    expect(newSecret()).not.to.equal(secret);
  });

  it('refuses what is not a secret', () => {
    for (const wrong of ['', 'whsec_', 'plJ3nmyCDGBKInavdOK15jsl']) expect(() => secretKey(wrong)).to.throw('whsec_');
  });
});
