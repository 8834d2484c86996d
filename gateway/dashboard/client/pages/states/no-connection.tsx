import type { ApiProblem } from '../../api/problem.ts';
import { Gate } from '../../parts/gate.tsx';
import { Problem } from '../../parts/problem.tsx';

interface NoConnectionProps {
  readonly problem: ApiProblem;
  readonly retry: () => void;
}

/** The gateway does not even say who is signed in. */
export function NoConnection({ problem, retry }: NoConnectionProps) {
  return (
    <Gate title="The dashboard is not reachable">
      <Problem problem={problem} retry={retry} />
    </Gate>
  );
}
