import { loadSession, session } from '../../api/session.ts';
import { Gate } from '../../parts/gate.tsx';
import { SecondFactorSetup } from './second-factor-setup.tsx';

/** Owners and operators need a second factor before anything else; others where their account says so. */
export function SecondFactorGate() {
  const role = session.value?.user.role ?? '';
  return (
    <Gate title="Set up your second factor" lead={`Your role, ${role}, needs one before anything else.`}>
      <SecondFactorSetup asksPassword={false} onDone={loadSession} />
    </Gate>
  );
}
