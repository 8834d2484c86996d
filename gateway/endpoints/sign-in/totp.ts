import { generateSecret, generateURI, verify } from 'otplib';
import qrcode from 'qrcode';

/** Codes of the step before and after are taken too, because clocks of phones differ (RFC 6238 §5.2). */
const TOLERANCE_S = 30;
const CODE = /^\d{6}$/;

/** A new seed, and the two forms in which an authenticator app takes it. */
export async function newSeed(
  username: string,
): Promise<{ readonly seed: string; readonly uri: string; readonly qrSvg: string }> {
  const seed = generateSecret();
  const uri = generateURI({ issuer: 'Harkara', label: username, secret: seed });
  return { seed, uri, qrSvg: await qrcode.toString(uri, { type: 'svg', margin: 2 }) };
}

/** The time step of a right code that is later than `after`; undefined when the code is wrong or was used. */
export async function stepOf(seed: string, code: string, now: Date, after: number): Promise<number | undefined> {
  const token = code.replaceAll(/\s/g, '');
  // The library throws at codes of another form.
  if (!CODE.test(token)) return undefined;
  const epoch = Math.floor(now.getTime() / 1000);
  const found = await verify({ secret: seed, token, epoch, epochTolerance: TOLERANCE_S, afterTimeStep: after });
  return found.valid && 'timeStep' in found ? found.timeStep : undefined;
}
