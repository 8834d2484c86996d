interface Step {
  readonly event: 'APPROVED' | 'REJECTED' | 'PAUSED' | 'DISABLED';
  readonly reason?: string;
  readonly info?: object;
}

/** What a review makes of a template whose name contains a word. docs/magic-numbers.md has the same table for people. */
export const MAGIC_TEMPLATES: readonly {
  readonly contains: string;
  readonly meaning: string;
  readonly steps: readonly Step[];
}[] = [
  {
    contains: 'refused',
    meaning: 'rejected (INVALID_FORMAT), with reason and recommendation',
    steps: [
      {
        event: 'REJECTED',
        reason: 'INVALID_FORMAT',
        info: {
          rejection_info: {
            reason: 'Your template has parameters placed next to each other.',
            recommendation: 'Separate the parameters with words.',
          },
        },
      },
    ],
  },
  {
    contains: 'scam',
    meaning: 'rejected (SCAM), without words',
    steps: [{ event: 'REJECTED', reason: 'SCAM' }],
  },
  {
    contains: 'paused',
    meaning: 'approved, then paused for the first time',
    steps: [
      { event: 'APPROVED' },
      {
        event: 'PAUSED',
        info: { other_info: { title: 'FIRST_PAUSE', description: 'The template is paused for 3 hours.' } },
      },
    ],
  },
  {
    contains: 'disabled',
    meaning: 'approved, then disabled for good',
    steps: [{ event: 'APPROVED' }, { event: 'DISABLED', info: { disable_info: { disable_date: '1751234563' } } }],
  },
  { contains: 'endless', meaning: 'never reviewed', steps: [] },
];
