import { judgeUpload } from '../../../../workers/chatapp/samples/header-samples.ts';
import { graphError } from '../provider-server.ts';

const judge = (status: number, body: object) =>
  judgeUpload({ kind: 'answered', status, body: Buffer.from(JSON.stringify(body)) }, 'id');

describe('what the provider says to an upload', () => {
  const REFUSED = 'The provider refused the file of the header: ';

  it('a file that it refuses: its words, for the account', () => {
    expect(judge(400, graphError(100, 'in detail', { message: 'The file type is not supported' }))).to.deep.equal({
      kind: 'refused',
      reason: `${REFUSED}The file type is not supported`,
    });
    const info = { retriable: false, type: 'OffsetInvalidError', message: 'Request starting offset is invalid' };
    expect(judge(412, { debug_info: info })).to.deep.equal({ kind: 'refused', reason: REFUSED + info.message });
  });

  it('an app that does not exist, or not for the token: nothing that the account could help', () => {
    const noObject = graphError(100, 'x', { type: 'GraphMethodException', error_subcode: 33 });
    expect(judge(400, noObject)).to.deep.equal({
      kind: 'later',
      reason: 'there is no such app id, or the access token may not upload to it',
    });
    expect(judge(401, graphError(190))).to.include({ kind: 'later' });
    expect(judge(403, graphError(200))).to.include({ kind: 'later' });
  });
});
