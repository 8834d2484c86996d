import type { EntryOf } from '../../../../../api/endpoint.ts';
import type { providers } from '../../../../../endpoints/providers/providers.ts';

/** As `GET /v2/admin/providers` shows it. */
export type Provider = EntryOf<typeof providers>;
