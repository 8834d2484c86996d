import { useState } from 'preact/hooks';
import { phoneDigits } from '../../../../../shared/platform/sheets/cell.ts';
import type { AnswerOf, EntryOf } from '../../../../api/endpoint.ts';
import type { changeProvider } from '../../../../endpoints/providers/change-provider.ts';
import type { providers } from '../../../../endpoints/providers/providers.ts';
import { patch, post } from '../../api/http.ts';
import { usePages } from '../../api/load.ts';
import { may } from '../../api/session.ts';
import { AccountField, AccountLink } from '../../parts/account.tsx';
import { customerAsked } from '../../parts/chat.ts';
import { Field, Select, TextArea } from '../../parts/field.tsx';
import {
  changed,
  Dialog,
  Form,
  FormDialog,
  type FormValues,
  SecretDialog,
  useClosing,
  useDialog,
} from '../../parts/form.tsx';
import { type Asking, ListPage } from '../../parts/list.tsx';
import { Notice } from '../../parts/page.tsx';
import { AddButton, Badge, CopyId, Time, type Tone } from '../../parts/value.tsx';

export function ProvidersPage() {
  const list = usePages<Provider>('/v2/admin/providers');
  const [dialog, open] = useDialog();
  const secret = (made: Made) => open(<VerifyTokenDialog {...made} />);
  const edit = (of?: Provider) => open(<ProviderDialog of={of} onDone={list.reload} onSecret={secret} />);
  return (
    <ListPage
      title="Chat-app providers"
      lead="The accounts' numbers on the chat-app channel, with what fails."
      next={may('admin:routing') && <AddButton onClick={() => edit()}>Give a number</AddButton>}
      list={list}
      rowKey={({ number }) => number}
      icon="provider"
      empty="No account has a number yet."
      columns={[
        { head: 'Account', cell: ({ account_id: id }) => <AccountLink id={id} /> },
        { head: 'Number', cell: ({ number }) => <a href={`/dashboard/admin/providers/${number}`}>{number}</a> },
        { head: 'Status', cell: ({ condition }) => <Badge tone={TONES[condition]}>{condition}</Badge> },
        {
          head: 'Opt-in',
          cell: ({ account_id: id, opt_in: rule }) => (
            <a href={`/dashboard/admin/accounts/${id}/opt-ins`}>{rule === 'list' ? 'by the list' : 'everybody'}</a>
          ),
        },
        { head: 'Last error', cell: (row) => <LastError of={row} /> },
        { head: 'Address', cell: ({ base_url }) => <code>{base_url}</code> },
      ]}
      acts={
        may('admin:routing') &&
        ((row) => [
          ['Send a test', `over ${row.number}`, () => open(<TestSendDialog of={row} />)],
          ['Change', row.number, () => edit(row)],
          [isGoing(row) ? 'Pause' : 'Start', row.number, switching(row)],
        ])
      }
      after={dialog}
    />
  );
}

function switching(of: Provider): Asking {
  const isPause = isGoing(of);
  return {
    title: isPause ? `Pause ${of.number}?` : `Start ${of.number}?`,
    act: isPause ? 'Pause number' : 'Start number',
    warning: isPause
      ? 'Sends are accepted and wait. What customers write comes in all the same.'
      : 'What waits is sent. If the provider still refuses the account, it stops again.',
    send: async () => {
      await post(`/v2/admin/providers/${of.number}/status`, { status: isPause ? 'paused' : 'active' });
      return isPause ? `${of.number} is paused.` : `${of.number} sends again.`;
    },
  };
}

function isGoing({ condition }: Provider): boolean {
  return condition === 'active' || condition === 'failing';
}

export type Provider = EntryOf<typeof providers>;

export const TONES: Readonly<Record<Provider['condition'], Tone>> = {
  active: 'good',
  paused: 'plain',
  failing: 'warn',
  stopped: 'bad',
};

export function LastError({ of: { stopped_reason: stopped, troubles } }: { readonly of: Provider }) {
  if (stopped !== null) return <>{stopped}</>;
  if (troubles.length === 0) return <span class="soft">none</span>;
  return (
    <>
      {troubles.map(({ words, at }) => (
        <div key={words}>
          {words}, <Time at={at} />
        </div>
      ))}
    </>
  );
}

/** What must be entered at the provider for a new number. */
interface Made {
  readonly provider: Provider;
  readonly token: string;
}

interface ProviderDialogProps {
  /** Absent: a number that no account has yet. */
  readonly of: Provider | undefined;
  readonly onDone: () => void;
  readonly onSecret: (made: Made) => void;
}

const OPT_IN = [
  ['off', 'Templates go to everybody'],
  ['list', 'Templates go only to who is on the opt-in list'],
] as const;
const POLICIES = [
  ['assume_sent', 'Charge it as sent: what never left is lost'],
  ['resend', 'Send it again: it may arrive twice'],
] as const;

const NUMBERS = [
  ['per_second', 'Messages a second'],
  ['window_size', 'Sends in flight'],
] as const;

/** Gives a chat-app number to an account, or changes it. Tokens can be set but are never shown. */
function ProviderDialog({ of, onDone, onSecret }: ProviderDialogProps) {
  const shown = {
    base_url: of?.base_url ?? '',
    phone_number_id: of?.phone_number_id ?? '',
    business_id: of?.business_id ?? '',
    app_id: of?.app_id ?? '',
    opt_in: of?.opt_in ?? 'off',
    unknown_policy: of?.unknown_policy ?? 'assume_sent',
  };
  const numbers = { per_second: of?.per_second, window_size: of?.window_size };
  const save = async (values: FormValues) => {
    const now = Object.fromEntries([
      ...Object.keys(shown).map((name) => [name, values.text(name)]),
      ...Object.keys(numbers).map((name) => [name, values.number(name)]),
    ]);
    const secrets = ['token', 'app_secret'].flatMap((name) =>
      values.has(name) && values.exact(name) ? [[name, values.exact(name)]] : [],
    );
    const number = of?.number ?? phoneDigits(values.text('number'));
    const answer = await patch<AnswerOf<typeof changeProvider>>(`/v2/admin/providers/${number}`, {
      ...(of === undefined && { account_id: values.text('account_id') }),
      ...changed(now, { ...shown, ...numbers }),
      ...Object.fromEntries(secrets),
    });
    onDone();
    if (answer.verify_token === null) return 'The number is changed. Workers know it within seconds.';
    return onSecret({ provider: answer.provider, token: answer.verify_token });
  };
  const isNew = of === undefined;
  return (
    <FormDialog
      title={isNew ? 'Give an account a number' : `Change ${of.number}`}
      side="right"
      submit={isNew ? 'Give number' : 'Change number'}
      of={of}
      onSubmit={save}
    >
      {isNew && <AccountField name="account_id" label="Account" />}
      {isNew && (
        <Field name="number" label="Number" type="tel">
          Country code first: 919000000001.
        </Field>
      )}
      <Field name="base_url" label="Address of the provider's API" type="url">
        With its version, such as /v23.0 at the end. Another address needs the token again.
      </Field>
      <Field name="phone_number_id" label="Id of the number" mono>
        The provider's, not the number itself.
      </Field>
      <Field name="business_id" label="Id of the business account" mono>
        WABA: it has the templates.
      </Field>
      <Field name="app_id" label="Id of the app" mono optional>
        Templates with a file in their header need it.
      </Field>
      <Field name="token" label="Access token" type="password" autoComplete="off" optional={!isNew}>
        {isNew ? undefined : 'Empty: as stored.'}
      </Field>
      <Field name="app_secret" label="App secret" type="password" autoComplete="off" optional={!isNew}>
        It signs callbacks.
      </Field>
      <Select name="opt_in" label="Opt-in" options={OPT_IN} />
      {NUMBERS.map(([name, label]) => (
        <Field key={name} {...{ name, label }} inputMode="numeric" optional />
      ))}
      <Select name="unknown_policy" label="A send without an answer" options={POLICIES} />
    </FormDialog>
  );
}

/** The token and URL that the provider needs for callbacks. */
function VerifyTokenDialog({ provider, token }: Made) {
  return (
    <SecretDialog
      name="verify token"
      text={token}
      hint="Enter it at the provider, with this address for its callbacks."
    >
      <p>
        <CopyId id={location.origin + provider.callback} />
      </p>
      <p class="hint">
        Then subscribe the business account to the app (<code>POST /{provider.business_id}/subscribed_apps</code>), or
        nothing is posted.
      </p>
    </SecretDialog>
  );
}

/** Sends one template message to a test phone, bypassing all queues. */
export function TestSendDialog({ of }: { readonly of: Provider }) {
  const close = useClosing();
  const [result, setResult] = useState<{ readonly ok: boolean; readonly words: string }>();
  const send = async (values: FormValues) => {
    setResult(undefined);
    setResult(
      await post(`/v2/admin/providers/${of.number}/test`, {
        to: customerAsked(values.text('to')),
        template: values.text('template'),
        language: values.text('language'),
        params: values.lines('params'),
      }),
    );
  };
  return (
    <Dialog title={`Send a test over ${of.number}`}>
      <p class="prose">It is charged to nobody here and stands in no list. The provider may bill it.</p>
      <Form submit="Send test" onSubmit={send} onCancel={close} sendsAgain>
        <Field name="to" label="Your own number" type="tel">
          With its country code.
        </Field>
        <Field name="template" label="Template" initial="hello_world" mono />
        <Field name="language" label="Language" initial="en_US" mono />
        <TextArea name="params" label="Values" optional rows={2}>
          One on each line, in the order of its text.
        </TextArea>
        {result && (
          <div role="status">
            <Notice tone={result.ok ? 'good' : 'bad'}>{result.words}</Notice>
          </div>
        )}
      </Form>
    </Dialog>
  );
}
