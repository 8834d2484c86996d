import { curlLines, doCurlLine } from '../../support/curl-line.ts';
import { eventually } from '../../support/eventually.ts';
import { printedWalk } from '../../support/printed-walk.ts';
import { SETTLE_MS, type World } from '../world.ts';

/** The commands that `npm start` prints, line by line. */
export function walkPrinted(world: () => World): void {
  it('an SMS and its status', async () => {
    const text = await printedWalk(world().product);
    const [send = ''] = curlLines(text, '/v2/send');
    const [ask = ''] = curlLines(text, '/v2/status/');

    const sent = await doCurlLine(send);
    expect(sent.status, JSON.stringify(sent.body)).to.equal(200);

    await eventually(
      async () => {
        const { body } = await doCurlLine(ask.replace('MESSAGE_ID', String(sent.body.message_id)));
        return body.status === 'delivered';
      },
      'the printed message delivered',
      SETTLE_MS,
    );
  });

  it('a template, the customer’s answer, a text inside the session, a refusal outside it', async () => {
    const { receiver } = world().product;
    const text = await printedWalk(world().product);
    const [template = ''] = curlLines(text, '/v2/chatapp/send ');
    const [answer = ''] = curlLines(text, '/says');
    const [inside = '', outside = ''] = curlLines(text, '/v2/chatapp/send-text');
    const to = /"to":"(\d+)"/.exec(template)?.[1];
    const told = (event: string, subject: unknown) =>
      eventually(
        () =>
          receiver
            .received()
            .some(({ json }) => json.event === event && (json.from === subject || json.message_id === subject)),
        `${event} of ${subject}`,
        SETTLE_MS,
      );

    const opened = await doCurlLine(template);
    expect(opened.status, JSON.stringify(opened.body)).to.equal(200);
    await told('message.read', opened.body.message_id);
    expect((await doCurlLine(answer)).status).to.equal(200);
    await told('message.received', to);
    const sent = await doCurlLine(inside);
    expect(sent.status, JSON.stringify(sent.body)).to.equal(200);
    await told('message.delivered', sent.body.message_id);
    const refused = await doCurlLine(outside);

    expect([refused.status, refused.body.code]).to.deep.equal([403, 'session_closed']);
  });
}
