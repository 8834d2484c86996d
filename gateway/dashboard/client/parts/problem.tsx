import type { ComponentChildren } from 'preact';
import type { ApiProblem } from '../api/problem.ts';
import { loadSession } from '../api/session.ts';
import { Button } from './button.tsx';
import { CopyId } from './copy.tsx';
import { Icon } from './icon.tsx';
import { Words } from './words.tsx';

interface ProblemProps {
  readonly problem: ApiProblem;
  readonly retry?: () => void;
  /** In place of what it says to a program. */
  readonly children?: ComponentChildren;
}

/** Why something did not work and what to do, with the id that our logs know it by. */
export function Problem({ problem, retry, children }: ProblemProps) {
  return (
    <div class="notice bad" role="alert">
      <Icon name="warning" />
      <div>
        {children ?? (
          <p>
            <strong>{problem.title}.</strong> <Words text={problem.message} />
          </p>
        )}
        {problem.requestId && (
          <p class="request">
            Request <CopyId id={problem.requestId} />
          </p>
        )}
      </div>
      {problem.code === 'second_factor_needed' && <Button onClick={() => loadSession()}>Set it up</Button>}
      {retry && (
        <Button look="quiet" onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  );
}
