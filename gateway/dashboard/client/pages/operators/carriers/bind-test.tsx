import { post } from '../../../api/http.ts';
import { CodeBlock } from '../../../parts/copy.tsx';
import { Notice } from '../../../parts/notice.tsx';

/** As `POST /v2/admin/carriers/test` answers; its declaration stands beside SMPP, whose types a browser has not. */
export interface BindTest {
  readonly ok: boolean;
  readonly words: string;
  readonly pdus: readonly string[];
}

/** Binds with settings that nobody has saved, and unbinds. What is left out is as stored. */
export function testBind(asked: object): Promise<BindTest> {
  return post<BindTest>('/v2/admin/carriers/test', asked);
}

/** What the carrier said to the bind, and every PDU of it. */
export function BindTestResult({ of }: { readonly of: BindTest }) {
  return (
    <div class="stack" role="status">
      <Notice tone={of.ok ? 'good' : 'bad'}>
        {of.ok && of.pdus.length > 0 ? 'The carrier accepted the bind.' : of.words}
      </Notice>
      {of.pdus.length > 0 && <CodeBlock text={of.pdus.join('\n')} label="PDUs of the bind" />}
    </div>
  );
}
