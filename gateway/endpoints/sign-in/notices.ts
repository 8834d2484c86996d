import { z } from 'zod';
import { NOTICE_NAMES, NOTICES } from '../../../shared/events/catalogue.ts';
import { getsNotice, noticesFor, wishesOf } from '../../../shared/events/notices.ts';
import { changeUser } from '../../../shared/people/users/store.ts';
import { addressOf, type UserDocument } from '../../../shared/people/users/user.ts';
import { endpoint, refused, type Shown } from '../../api/endpoint.ts';
import { flag, named, text } from '../../api/shapes.ts';
import { choice, list, required } from '../../http/fields/field.ts';
import { request } from '../../http/fields/request.ts';
import { isRefused } from '../../http/idempotency/action.ts';
import { changeOwn, ownOf } from './own.ts';

/** What the user is told of by mail. */

const Notice = named('Notice', 'A kind of mail that the user may choose.', {
  event: z.enum(NOTICE_NAMES).meta({ example: 'key.created' }),
  when: text('When it happens.', { example: 'An API key was made.' }),
  mail: flag('Whether you are told of it.', true),
  usual: flag('Whether somebody of your role is told, unless they say otherwise.', true),
});

const NoticeChoices = named('NoticeChoices', {
  email: text('Where mails go. Null: you have given no address, so none is sent.', {
    example: 'asha@example.com',
  }).nullable(),
  data: z.array(Notice).meta({ description: 'What somebody of your role may be told of.' }),
});

export const ownNotices = endpoint({
  id: 'notices',
  method: 'get',
  path: '/v2/profile/notices',
  tag: 'Sign-in',
  summary: 'What you are told of by mail',
  description: 'Extension. Of the same thing, nothing is told twice within an hour.',
  signedIn: 'whole',
  answer: NoticeChoices,
  async handle(gateway, call) {
    const own = await ownOf(gateway, call);
    return isRefused(own) ? own : choicesOf(own.user);
  },
});

export const chooseNotices = endpoint({
  id: 'chooseNotices',
  method: 'put',
  path: '/v2/profile/notices',
  tag: 'Sign-in',
  summary: 'Choose what you are told of by mail',
  description: 'Extension. These, and no others. What your role may not be told of is left out.',
  signedIn: 'whole',
  bodyMax: 'small',
  body: request({
    mail: required(list(choice(NOTICE_NAMES), { description: 'What you want to be told of.', minItems: 0 })),
  }),
  answer: NoticeChoices,
  examples: { body: { example: { mail: ['key.created', 'webhook.disabled'] } } },
  async handle(gateway, call) {
    const own = await ownOf(gateway, call);
    if (isRefused(own)) return own;
    const notices = wishesOf(own.user.role, [...new Set(call.body.mail)]);
    const user = await changeOwn(gateway, call, 'user.choose-notices', own.user, () =>
      changeUser(gateway.db, { _id: own.user._id }, { $set: { notices } }),
    );
    return user === undefined ? refused('session_ended') : choicesOf(user);
  },
});

function choicesOf(user: UserDocument): Shown<typeof NoticeChoices> {
  const data = noticesFor(user).map((event) => ({
    event,
    when: NOTICES[event].when,
    mail: getsNotice(user, event),
    usual: getsNotice({ role: user.role }, event),
  }));
  return { email: addressOf(user) ?? null, data };
}
