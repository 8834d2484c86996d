import { Client, type ElicitResult } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { accountAtGateway } from '../support/account-gateway.ts';
import { balanceOf } from '../support/balance.ts';
import { ROOT } from '../support/sources.ts';

const SMS = { to: '919876543210', message: 'Your order has left.', sender: 'HARKRA' };

/** Protocol revisions: today's, and the one that asks a person by a second request of the host. */
const REVISIONS = { 'handshake of 2025': 'legacy', 'revision of 2026': 'auto' } as const;

describe('npm run mcp, as a host of agents starts it', () => {
  const site = accountAtGateway(10);
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  /** `person` answers the question to a person; without it the host can ask nobody. */
  async function connect(
    args: readonly string[],
    person?: (question: string) => ElicitResult,
    mode: 'legacy' | 'auto' = 'legacy',
  ): Promise<Client> {
    const capabilities = person === undefined ? {} : { elicitation: {} };
    const client = new Client({ name: 'test', version: '1' }, { capabilities, versionNegotiation: { mode } });
    if (person !== undefined) {
      client.setRequestHandler('elicitation/create', async ({ params }) => person(params.message));
    }
    const env = { PATH: process.env.PATH ?? '', HARKARA_URL: site.url, HARKARA_KEY: site.key };
    await client.connect(
      new StdioClientTransport({ command: 'npm', args: ['run', '--silent', 'mcp', '--', ...args], cwd: ROOT, env }),
    );
    closing.push(() => client.close());
    return client;
  }

  const call = async (client: Client, name: string, given: Record<string, unknown>) => {
    const { content, isError = false } = await client.callTool({ name, arguments: given });
    const [first] = content;
    const text = first?.type === 'text' ? first.text : '';
    return { isError, text, body: text.startsWith('{') ? JSON.parse(text) : undefined };
  };

  it('reads: what an agent finds out costs nothing, and a refusal says what to do', async () => {
    const client = await connect([]);
    const { tools } = await client.listTools();
    const sent = await fetch(`${site.url}/v2/send`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${site.key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(SMS),
    });
    const { message_id } = (await sent.json()) as { message_id: string };

    const found = await call(client, 'search_messages', { to: SMS.to, limit: 5 });
    const explained = await call(client, 'explain_message', { message_id });
    const overview = await call(client, 'account_overview', {});
    const templates = await call(client, 'list_sms_templates', {});
    const dry = await call(client, 'dry_run_sms', SMS);
    const refused = await call(client, 'dry_run_sms', { ...SMS, to: '12' });
    const unknown = await call(client, 'search_messages', { state: 'lost' });

    expect(tools.map(({ name }) => name)).to.include.members(['search_messages', 'explain_message', 'dry_run_sms']);
    expect(
      tools.filter(({ name, annotations }) => /^send/.test(name) || annotations?.readOnlyHint !== true),
    ).to.deep.equal([]);
    expect(found.body.data.map((one: { message_id: string }) => one.message_id)).to.include(message_id);
    expect(explained.body).to.include({ message_id, status: 'queued' });
    expect(explained.body.timeline).to.be.an('array');
    expect(explained.body.explanation.advice).to.be.a('string');
    expect(overview.body.balance).to.equal(9);
    expect(templates.body.templates).to.deep.equal([]);
    expect(dry.body).to.include({ dry_run: true, credits_required: 1 });
    expect(refused).to.deep.include({ isError: true });
    expect(refused.body).to.include({ code: 'invalid_request' });
    expect(unknown.body.errors[0]).to.include({ field: 'state', code: 'invalid_value' });
    expect(await balanceOf(site.db, site.account)).to.equal(9);
  });

  for (const [revision, mode] of Object.entries(REVISIONS)) {
    it(`sends, ${revision}: what a person agrees to, and nothing else`, async () => {
      const asked: string[] = [];
      let answer: ElicitResult = { action: 'accept', content: { send: true } };
      const client = await connect(
        ['--send'],
        (question) => {
          asked.push(question);
          return answer;
        },
        mode,
      );

      const sent = await call(client, 'send_sms', SMS);
      answer = { action: 'decline' };
      const declined = await call(client, 'send_sms', SMS);
      answer = { action: 'accept', content: { send: false } };
      const doubted = await call(client, 'send_sms', SMS);

      expect(sent.body).to.include({ status: 'success', to: SMS.to });
      expect(asked).to.have.length(3);
      expect(asked[0]).to.include(SMS.message).and.include('"credits_required":1');
      expect([declined.isError, doubted.isError]).to.deep.equal([true, true]);
      expect(await balanceOf(site.db, site.account)).to.equal(9);
    });
  }

  it('sends nothing where the host can ask nobody', async () => {
    const client = await connect(['--send']);

    const outcome = await call(client, 'send_sms', SMS).catch((error: unknown) => ({ isError: true, error }));

    expect(outcome.isError).to.equal(true);
    expect(await balanceOf(site.db, site.account)).to.equal(10);
  });
});
