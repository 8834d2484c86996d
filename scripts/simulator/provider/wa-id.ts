/**
 * The number by which the provider knows a customer: it is in answers and statuses, and the customer's messages come from it. Like
 * the Cloud API for many numbers of Brazil, it leaves out the ninth digit of a mobile number. Other numbers stay as they are.
 */
export function waIdOf(number: string): string {
  return number.replace(/^(55[1-9]{2})9(\d{8})$/, '$1$2');
}

/** A customer who shows no number is known by a user id. */
export const USER_ID = /^[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}$/;
