import type { AnswerOf } from '../../../../api/endpoint.ts';
import type { signInRules } from '../../../../endpoints/users/sign-in-rules.ts';
import { patch } from '../../api/http.ts';
import { useLoad } from '../../api/load.ts';
import { Checkbox } from '../../parts/checkbox.tsx';
import { Card, Loading } from '../../parts/page.tsx';
import { toast, toastProblem } from '../../parts/toast.tsx';

type SignIn = AnswerOf<typeof signInRules>;

/** Whether the second factor is for everybody. `none` is said of the demo account only. */
export function SignInPolicy() {
  const policy = useLoad<SignIn>('/v2/account/sign-in');
  const change = (all: boolean) => {
    patch<SignIn>('/v2/account/sign-in', { second_factor: all ? 'all' : 'owners' }).then(
      (now) => {
        policy.setData(now);
        toast(all ? 'Everybody needs a second factor from now on.' : 'Only owners need a second factor from now on.');
      },
      (error) => {
        toastProblem(error);
        policy.reload(); // The box shows what holds, not what was clicked.
      },
    );
  };
  return (
    <Card title="Signing in">
      <Loading of={policy}>
        {({ second_factor }) => (
          <Checkbox
            name="second_factor"
            label="Everybody needs a second factor"
            hint="Whoever has none sets one up before anything else. Owners need one in any case."
            checked={second_factor === 'all'}
            onChange={change}
          />
        )}
      </Loading>
    </Card>
  );
}
