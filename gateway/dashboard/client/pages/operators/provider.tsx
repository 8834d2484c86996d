import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { AnswerOf } from '../../../../api/endpoint.ts';
import type { providerPrices } from '../../../../endpoints/providers/price-list.ts';
import { post, put, remove } from '../../api/http.ts';
import { useLoad } from '../../api/load.ts';
import { may } from '../../api/session.ts';
import { AccountLink } from '../../parts/account.tsx';
import { Field, FileField, TextArea } from '../../parts/field.tsx';
import { Confirm, FormDialog, useDialog } from '../../parts/form.tsx';
import { Table } from '../../parts/list.tsx';
import { Card, Empty, Loading, PageHead, type PageProps } from '../../parts/page.tsx';
import { Badge, Button, counted, Facts, Time } from '../../parts/value.tsx';
import { LastError, type Provider, TestSendDialog, TONES } from './providers.tsx';

type Prices = AnswerOf<typeof providerPrices>;

export function ProviderPage({ params: { number = '' } }: PageProps) {
  const path = `/v2/admin/providers/${number}`;
  const loaded = useLoad<Provider>(path);
  const { route } = useLocation();
  const [dialog, open] = useDialog();
  const makeDefault = () =>
    open(
      <Confirm
        title={`Make ${number} the default?`}
        act="Make it the default"
        onConfirm={async () => {
          await post(`${path}/default`);
          loaded.reload();
          return `${number} is the default.`;
        }}
      >
        Templates of the account that name no number leave from it.
      </Confirm>,
    );
  const drop = () =>
    open(
      <Confirm
        title={`Take ${number} from its account?`}
        act="Remove number"
        typed={number}
        onConfirm={async () => {
          await remove(path);
          route('/dashboard/admin/providers', true);
          return `${number} is removed.`;
        }}
      >
        What the provider posts for it from now on is refused. Messages that wait to leave from it are rejected, and
        their conversations are given back. What was sent and received stays.
      </Confirm>,
    );
  const { data } = loaded;
  return (
    <>
      <PageHead
        title={number}
        lead={data && <AccountLink id={data.account_id} />}
        back={{ href: '/dashboard/admin/providers', label: 'Chat-app providers' }}
        actions={
          data &&
          may('admin:routing') && (
            <>
              <Button onClick={() => open(<TestSendDialog of={data} />)}>Send a test</Button>
              {!data.default && <Button onClick={makeDefault}>Make it the default</Button>}
              <Button look="danger" onClick={drop}>
                Remove number
              </Button>
            </>
          )
        }
      />
      <Loading of={loaded}>
        {(provider) => (
          <>
            <Card title="Now">
              <Facts
                facts={[
                  ['Status', <Badge tone={TONES[provider.condition]}>{provider.condition}</Badge>],
                  ['Default of its account', provider.default ? 'yes' : 'no'],
                  ['Last error', <LastError of={provider} />],
                  ['The provider told last', provider.notice?.words ?? 'nothing'],
                  ['Address', <code>{provider.base_url}</code>],
                  ['Business account', <code>{provider.business_id}</code>],
                ]}
              />
            </Card>
            <PricesCard account={provider.account_id} />
            <Tiers tiers={provider.tiers} />
          </>
        )}
      </Loading>
      {dialog}
    </>
  );
}

function PricesCard({ account }: { readonly account: string }) {
  const path = `/v2/admin/accounts/${account}/provider-prices`;
  const loaded = useLoad<Prices>(path);
  const [dialog, open] = useDialog();
  const save = async (body: object) => {
    loaded.setData(await put<Prices>(path, body));
    return 'The price list is set. What is delivered from now on has its cost.';
  };
  const { data } = loaded;
  const change = may('admin:routing') && data && (
    <Button onClick={() => open(<PricesDialog of={data} save={save} />)}>Set the price list</Button>
  );
  return (
    <Card
      title="What the provider takes"
      lead="For each delivered message, by market and category. The longest prefix decides, else the country, else all other markets."
      actions={change}
    >
      <Loading of={loaded}>
        {({ currency, credit_value: value, prices, changed_at: at }) =>
          currency === null || at === null ? (
            <Empty icon="credits" action={change}>
              No price list: reports show no costs of this account.
            </Empty>
          ) : (
            <>
              <p class="soft">
                {counted(prices.length, 'price')} in {currency}, set <Time at={at} />. A credit earns{' '}
                {value === null ? `the account's price per credit, if that is in ${currency}` : `${value} ${currency}`}.{' '}
                <a href={`/dashboard/admin/losses?account_id=${account}`}>
                  Conversations that cost more than they earned
                </a>
              </p>
              <Table
                caption="Price list"
                rows={prices}
                rowKey={({ market, category }) => `${market} ${category}`}
                columns={[
                  { head: 'Market', cell: ({ market }) => market ?? 'all others' },
                  { head: 'Category', cell: ({ category }) => category },
                  { head: `Price (${currency})`, kind: 'number', cell: ({ price }) => price },
                ]}
              />
            </>
          )
        }
      </Loading>
      {dialog}
    </Card>
  );
}

interface PricesDialogProps {
  readonly of: Prices;
  /** Resolves to the toast's text. */
  readonly save: (body: object) => Promise<string>;
}

function PricesDialog({ of, save }: PricesDialogProps) {
  const [csv, setCsv] = useState(
    [
      'market,category,price',
      ...of.prices.map(({ market, category, price }) => `${market ?? 'other'},${category},${price}`),
    ].join('\n'),
  );
  return (
    <FormDialog
      title="Price list of the provider"
      of={of}
      side="right"
      submit="Set price list"
      onSubmit={(values) =>
        save({
          ...{ currency: values.text('currency'), csv: values.exact('csv') },
          credit_value: values.optional('credit_value'),
        })
      }
    >
      <Field name="currency" label="Currency">
        What the provider bills in: USD.
      </Field>
      <FileField label="Rate card" onRead={(octets) => setCsv(new TextDecoder().decode(octets))} />
      <TextArea name="csv" label="Prices" rows={12} value={csv} onInput={setCsv}>
        The first column is market: a country, a prefix, or other. Then a column for each category, as in the provider's
        rate card; or the columns category and price.
      </TextArea>
      <Field name="credit_value" label="What a credit earns" optional>
        In this currency: 0.0025. Empty: the account's price per credit, if it is in this currency.
      </Field>
    </FormDialog>
  );
}

function Tiers({ tiers }: { readonly tiers: Provider['tiers'] }) {
  if (tiers.length === 0) return null;
  return (
    <Card
      title="Volume tiers"
      lead="What the business account has reached, as the provider told. Messages of these tiers cost less than the price list says."
    >
      <Table
        caption="Volume tiers"
        rows={tiers}
        rowKey={({ category, region }) => `${category} ${region}`}
        columns={[
          { head: 'Category', cell: ({ category }) => category },
          { head: 'Market', cell: ({ region }) => region },
          { head: 'Messages of the month', cell: ({ tier }) => tier.replace(':', ' to ') },
          { head: 'Month', cell: ({ month }) => month ?? '–' },
          { head: 'Told', cell: ({ at }) => <Time at={at} /> },
        ]}
      />
    </Card>
  );
}
