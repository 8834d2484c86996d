import { AddressGuard } from '../../../../shared/events/webhooks/address-guard.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { posterWorld } from '../../../workers/webhooks/poster.ts';

describe('webhooks worker: where a post may go', () => {
  const { guarded, poster, receiver, post } = posterWorld();

  describe('the address guard', () => {
    it('a literal address that is not public is not connected to', async () => {
      const target = await receiver();
      const strict = poster({ allowSubnets: [] });

      expect(await post(strict, target.url)).to.include({ result: 'refused_address' });
      expect(await post(strict, target.url.replace('127.0.0.1', '[::ffff:127.0.0.1]'))).to.include({
        result: 'refused_address',
      });
      expect(await post(strict, target.url.replace('127.0.0.1', 'localhost'))).to.include({
        result: 'refused_address',
      });
      expect(target.connections).to.equal(0);
    });

    it('a name that led somewhere public and now leads inside is refused when it is connected to', async () => {
      const target = await receiver();
      const origin = target.url.replace('127.0.0.1', 'rebinding.example');
      const answers = [['8.8.8.8'], ['127.0.0.1']];
      const guard = new AddressGuard({ allowHttp: true, allowSubnets: [], resolve: async () => answers.shift() ?? [] });
      const client = guarded(guard);

      expect(await guard.checkUrl(origin)).to.deep.equal({ ok: true });
      expect(await post(client, origin)).to.include({ result: 'refused_address' });
      expect(target.connections).to.equal(0);
    });

    it('one private address among a name’s addresses is enough to refuse', async () => {
      const client = poster({ allowSubnets: [], resolve: async () => ['8.8.8.8', '127.0.0.1'] });

      expect(await post(client, 'http://mixed.example')).to.include({ result: 'refused_address' });
    });

    it('connects to the address that was checked, asking once, with the name as Host', async () => {
      const target = await receiver();
      const asked: string[] = [];
      const client = poster({
        resolve: async (name) => {
          asked.push(name);
          return ['127.0.0.1'];
        },
      });
      const host = `hooks.example:${new URL(target.url).port}`;

      expect(await post(client, `http://${host}`)).to.include({ result: 200 });

      expect(asked).to.deep.equal(['hooks.example']);
      expect(target.received[0]?.headers.host).to.equal(host);
    });

    it('what is open for one account and port is open to no other, also while a connection is', async () => {
      const [target, beside] = [await receiver(), await receiver()];
      const [owner, other] = [newId('acc'), newId('acc')];
      const { port } = new URL(target.url);
      const client = poster({ allowSubnets: [`${owner}=127.0.0.1:${port}`] });
      const named = target.url.replace('127.0.0.1', 'localhost');

      expect(await post(client, target.url, '/', owner)).to.include({ result: 200 });
      for (const account of [other, undefined]) {
        expect(await post(client, target.url, '/', account)).to.include({ result: 'refused_address' });
      }
      expect(await post(client, beside.url, '/', owner)).to.include({ result: 'refused_address' });
      // Its IPv6 address is not open.
      expect(await post(client, named, '/', owner)).to.include({ result: 'refused_address' });
      expect([target.connections, beside.connections]).to.deep.equal([1, 0]);
    });

    it('a name that does not exist is dns_failed', async () => {
      const client = poster({
        resolve: () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })),
      });

      expect(await post(client, 'http://nowhere.example')).to.include({ result: 'dns_failed' });
    });
  });
});
