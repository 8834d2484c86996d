import type { Db } from 'mongodb';
import { z } from 'zod';
import type { CarrierDocument } from '../../../../shared/carriers/carrier.ts';
import { listCarriers } from '../../../../shared/carriers/carrier-store.ts';
import { listChains } from '../../../../shared/carriers/chain.ts';
import { listOfPath } from '../../../../shared/carriers/routing/route.ts';
import { predictRefusals, type ScrubCarrier, type ScrubFacts } from '../../../../shared/carriers/scrub-rules.ts';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { promotionalHours } from '../../../../shared/messages/document/routing.ts';
import { defined } from '../../../../shared/platform/runtime/defined.ts';
import { type AccountId, liveAccountOf } from '../../../../shared/platform/runtime/ids.ts';
import { findTemplate } from '../../../../shared/templates/sms/store.ts';
import type { Gateway, Shown } from '../../../api/endpoint.ts';
import { named, text } from '../../../api/shapes.ts';
import type { CallerAccount } from '../../../http/context.ts';
import type { MissingCtas } from '../ctas/check.ts';

export const PredictedRefusal = named('PredictedRefusal', 'What operators will, or may, refuse it for.', {
  scrub_code: text('The code that their receipt would have.', { example: '642' }),
  certainty: z.enum(['sure', 'possible']).meta({
    description: '`possible`: it is up to what operators alone know, or they do not agree.',
  }),
  cause: text('What is wrong.', { example: 'The link "acme.in/offers" is not registered to the account.' }),
  advice: text('What to do.', { example: 'Register it, or remove it from the text.' }),
});

export type ScrubbedMessage = Pick<MessageDocument, 'sender' | 'route' | 'path'> & {
  readonly template?: string | undefined;
  readonly entityId?: string | undefined;
};

/** What a message's DLT scrubbing depends on. Reads nothing for accounts without DLT. */
export async function scrubFactsOf(
  { db, config }: Pick<Gateway, 'db' | 'config'>,
  account: Pick<CallerAccount, '_id' | 'dlt'>,
  { sender, route, path, template: dltId, entityId }: ScrubbedMessage,
  more: Pick<ScrubFacts, 'missing'> & { readonly at?: Date; readonly carriers?: readonly CarrierDocument[] },
): Promise<ScrubFacts> {
  const { missing, at } = more;
  if (account.dlt !== 'on') return defined({ missing });
  const live = liveAccountOf(account._id);
  const [found, carriers] = await Promise.all([
    dltId === undefined ? undefined : findTemplate(db, live, dltId),
    carriersWithChains(db, live, more.carriers ?? carriersOf(await listCarriers(db), path)),
  ]);
  return {
    ...{ sender, route, entityId: entityId ?? null, carriers, ...defined({ missing }) },
    ...(found && {
      template: {
        dltId: found.dltId,
        status: found.status,
        ...defined({ category: found.category, reason: found.reason }),
      },
    }),
    ...(at && { leaves: { at, hours: promotionalHours(config) } }),
  };
}

/** For a dry run: reasons for which operators would refuse the message. `at`: when it would leave. */
export async function predicted(
  gateway: Gateway,
  account: CallerAccount,
  message: ScrubbedMessage,
  { missing, at }: { readonly missing: MissingCtas; readonly at: Date },
): Promise<{ readonly predicted_refusals?: Shown<typeof PredictedRefusal>[] }> {
  const facts = await scrubFactsOf(gateway, account, message, { missing: missing.words(), at });
  const all = predictRefusals(facts);
  if (all.length === 0) return {};
  return { predicted_refusals: all.map(({ code, ...said }) => ({ scrub_code: code, ...said })) };
}

export function carriersOf<Carrier extends Pick<CarrierDocument, '_id' | 'paths'>>(
  all: readonly Carrier[],
  path: string,
): readonly Carrier[] {
  const list = listOfPath(path)?.carriers;
  return all.filter(({ _id, paths }) => (list === undefined ? paths.includes(path) : list.includes(_id)));
}

async function carriersWithChains(
  db: Db,
  account: AccountId,
  carriers: readonly CarrierDocument[],
): Promise<readonly ScrubCarrier[]> {
  const own = new Map((await listChains(db, account)).map(({ carrier, telemarketers }) => [carrier, telemarketers]));
  // A carrier over HTTPS gets what its own description of requests says.
  const overSmpp = carriers.filter(({ kind }) => kind !== 'http');
  return overSmpp.map(({ _id, name, dlt = 'off' }) => {
    const chain = own.get(_id) ?? (dlt === 'off' ? undefined : dlt.chain);
    return { name, dlt, ...defined({ chain }) };
  });
}
