import type { Request } from 'express';
import type { Db } from 'mongodb';
import { type ListedCarrier, listConditions } from '../../../shared/carriers/list-conditions.ts';

/** The carrier that the path names. There are tens of them, so all are read. */
export async function carrierInPath(db: Db, { params }: Request, now: Date): Promise<ListedCarrier | undefined> {
  return (await listConditions(db, now)).find(({ carrier }) => carrier._id === params.carrier_id);
}
