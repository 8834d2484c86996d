import type { TemplateChange, UnannouncedTemplateEvent } from '../../shared/events/template-change.ts';
import type { Announcer } from '../../shared/events/webhooks/announce.ts';
import type { ChatTemplateDocument } from '../../shared/templates/chat/chat-template.ts';
import type { ChatTemplateRequestDocument } from '../../shared/templates/chat/template-request.ts';
import type { TemplateDocument, UnannouncedDecision } from '../../shared/templates/sms/template.ts';
import type { TemplateRequestDocument } from '../../shared/templates/sms/template-request.ts';
import { mailNotice, mayTell, type TellDeps } from './tell.ts';
import { announceUnannounced } from './unannounced.ts';

type Unannounced = UnannouncedTemplateEvent & Pick<UnannouncedDecision, 'request'>;

/** A template of any kind, with the decisions that are still to be announced. */
interface WithUnannounced {
  readonly _id: string;
  readonly unannounced?: readonly Unannounced[];
}

interface AnnounceDeps extends TellDeps {
  readonly announcer: Announcer;
}

/**
 * Announces what was decided about templates: each decision is an entry of `unannounced` in the template's own document, added by
 * the update that decided. Announced twice, it is one delivery and one mail to each. Returns of how many templates.
 */
export async function announceTemplates(deps: AnnounceDeps): Promise<number> {
  const announced = await Promise.all([
    announce<TemplateDocument>(deps, 'templates', ({ account, dltId, name }, { request }) => ({
      ...{ account, channel: 'sms', named: { template_id: request ?? dltId, name } },
      ...(request && { template: request }),
    })),
    announce<TemplateRequestDocument>(deps, 'template_requests', ({ _id, account, name }) => ({
      ...{ account, channel: 'sms', named: { template_id: _id, name } },
    })),
    announce<ChatTemplateDocument>(deps, 'chat_templates', ({ account, business, name, language, category }) => ({
      ...{ account, channel: 'chatapp', named: { name, language, category, business_id: business } },
    })),
    announce<ChatTemplateRequestDocument>(
      deps,
      'chat_template_requests',
      ({ account, business, name, language, draft }) => ({
        ...{
          account,
          channel: 'chatapp',
          named: { name, language, category: draft?.category ?? '', business_id: business },
        },
      }),
    ),
  ]);
  return announced.reduce((sum, count) => sum + count, 0);
}

function announce<T extends WithUnannounced>(
  { announcer, ...deps }: AnnounceDeps,
  collection: string,
  whose: (
    template: T,
    unannounced: Unannounced,
  ) => Pick<TemplateChange, 'account' | 'channel' | 'named'> & Partial<Pick<TemplateChange, 'template'>>,
): Promise<number> {
  return announceUnannounced<T>(deps.db, collection, async (found) => {
    const changes = found.flatMap((template) =>
      (template.unannounced ?? []).map((unannounced) => ({
        ...unannounced,
        template: template._id,
        ...whose(template, unannounced),
      })),
    );
    await announcer.announce(changes);
    for (const change of changes) await mail(deps, change);
  });
}

async function mail(deps: TellDeps, { event, account, channel, template, named, status, reason, at }: TemplateChange) {
  const told = { name: named.name ?? template, channel, status, reason: reason ?? null };
  const notable = { event: `template.${event}`, account, subject: template, at, told } as const;
  if (await mayTell(deps.db, notable, deps.clock.now())) await mailNotice(deps, notable);
}
