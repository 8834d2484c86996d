import { CUSTOMER_FORM, customerProblem, isCustomerUserId } from '../../../shared/messages/document/recipient.ts';
import { phoneDigits, wordOf } from '../../../shared/platform/sheets/cell.ts';
import { Fault, type Kind, string } from '../../http/fields/field.ts';

/** A number, or a user id, which keeps its full stops. */
export function customerOf(written: string): string {
  const { text } = wordOf(written);
  return isCustomerUserId(text) ? text : phoneDigits(written);
}

export function customer(description: string): Kind<string> {
  return string({ description, pattern: CUSTOMER_FORM.source }, (text) => {
    const problem = customerProblem(text);
    return problem === undefined ? text : new Fault('invalid_phone', problem);
  });
}
