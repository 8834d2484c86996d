import { useState } from 'preact/hooks';
import { put } from '../../api/http.ts';
import { useLoad } from '../../api/load.ts';
import { may } from '../../api/session.ts';
import { Field, Select } from '../../parts/field.tsx';
import { FormDialog, type FormValues, useDialog } from '../../parts/form.tsx';
import { Card, Loading } from '../../parts/page.tsx';
import { Button } from '../../parts/value.tsx';
import { type Price, type Prices, PricesTable } from '../credits.tsx';

interface PricesCardProps {
  readonly account: string;
  readonly name: string;
  readonly currency: string;
}

export function PricesCard({ account, name, currency }: PricesCardProps) {
  const path = `/v2/admin/accounts/${account}/prices`;
  const loaded = useLoad<Prices>(path);
  const [dialog, open] = useDialog();
  const save = async (body: object) => {
    loaded.setData(await put<Prices>(path, body));
    return `The prices of ${name} are set. Gateways see them within seconds.`;
  };
  const { data } = loaded;
  const change = may('admin:money') && data && (
    <Button onClick={() => open(<PricesDialog title={`Prices of ${name}`} {...{ currency, prices: data, save }} />)}>
      Set prices
    </Button>
  );
  return (
    <Card title="Prices" lead="In credits. The first line that fits decides." actions={change}>
      <Loading of={loaded}>
        {({ prices, credit_price: price }) => (
          <>
            <PricesTable prices={prices} />
            <p class="soft">
              {price === null
                ? 'Statements show credits alone: no price per credit is set.'
                : `Statements count ${price} ${currency} for a credit.`}
            </p>
          </>
        )}
      </Loading>
      {dialog}
    </Card>
  );
}

/** `channel/route/starter/unit`: what a price is for. */
const KINDS = [
  ['sms///message', 'SMS, for each message'],
  ['sms///segment', 'SMS, for each segment'],
  ['sms/transactional//message', 'Transactional SMS, for each message'],
  ['sms/transactional//segment', 'Transactional SMS, for each segment'],
  ['sms/promotional//message', 'Promotional SMS, for each message'],
  ['sms/promotional//segment', 'Promotional SMS, for each segment'],
  ['chatapp///conversation', 'Chat-app conversation'],
  ['chatapp//user/conversation', 'Conversation that a customer starts'],
  ['chatapp//business/conversation', 'Conversation that the account starts'],
] as const;

function kindOf({ channel, route, started_by: by, per }: Price): string {
  return [channel, route ?? '', by ?? '', per].join('/');
}

interface Line {
  readonly key: number;
  readonly price?: Price;
}

interface PricesDialogProps {
  readonly title: string;
  readonly currency: string;
  readonly prices: Prices;
  /** Resolves to the toast's text. */
  readonly save: (body: object) => Promise<string>;
}

function PricesDialog({ title, currency, prices, save }: PricesDialogProps) {
  const [lines, setLines] = useState<readonly Line[]>(prices.prices.map((price, key) => ({ key, price })));
  const send = (values: FormValues) =>
    save({
      prices: lines.map((_, i) => {
        const [channel, route, by, per] = values.text(`prices[${i}].channel`).split('/');
        const country = values.text(`prices[${i}].country`).toUpperCase();
        return {
          ...{ channel, per, credits: values.number(`prices[${i}].credits`) },
          ...(route && { route }),
          ...(by && { started_by: by }),
          ...(country && { country }),
        };
      }),
      credit_price: values.text('credit_price') || '0',
    });
  return (
    <FormDialog title={title} side="right" submit="Set prices" of={prices} onSubmit={send}>
      {lines.map(({ key, price }, i) => (
        <fieldset key={key} class="price-line">
          <legend>Line {i + 1}</legend>
          <Select
            name={`prices[${i}].channel`}
            label="What"
            options={KINDS}
            initial={price === undefined ? 'sms///message' : kindOf(price)}
          />
          <Field name={`prices[${i}].country`} label="Country" initial={price?.country ?? ''} placeholder="all" />
          <Field
            name={`prices[${i}].credits`}
            label="Credits"
            inputMode="numeric"
            initial={price === undefined ? '' : String(price.credits)}
          />
          <Button look="quiet" onClick={() => setLines(lines.filter((line) => line.key !== key))}>
            Remove
          </Button>
        </fieldset>
      ))}
      {lines.length === 0 && <p class="soft">Without a line an SMS costs 1 credit for each recipient.</p>}
      <Button
        icon="plus"
        onClick={() => setLines([...lines, { key: Math.max(-1, ...lines.map(({ key }) => key)) + 1 }])}
      >
        Add a line
      </Button>
      <Field name="credit_price" label={`Price of a credit in ${currency}`} optional placeholder="0.20">
        For statements: amounts and tax. Empty: statements have credits alone.
      </Field>
    </FormDialog>
  );
}
