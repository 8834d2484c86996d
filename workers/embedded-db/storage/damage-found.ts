import { existsSync } from 'node:fs';
import { DamageFound } from '../../../shared/runtime/lifecycle.ts';
import type { TreePage } from './page-tree.ts';
import type { StoreFiles } from './store-files.ts';

/** `first` is one of `count` pages, and `where` says what is in it. */
export function isDamaged({ tables, sums }: StoreFiles, first: TreePage, count: number, where: string): DamageFound {
  return new DamageFound(
    `${tables} is damaged: page ${first.number} (${where}) is not as it was written${count === 1 ? '' : `, and ${count - 1} more`}. The disk changed or lost it. Bring data.mdb and data.log back from one backup.${existsSync(sums) ? ` To see what can still be read, keep copies, remove ${sums}, and run: npm run ops -- store check` : ''}`,
  );
}

export function notTheSame({ tables, sums }: StoreFiles, why: string): DamageFound {
  return new DamageFound(
    `${tables} is not as it was written: ${why}. If you brought data.mdb and data.log back from one backup, remove ${sums}; if not, do so, or keep copies, remove ${sums}, and run: npm run ops -- store check`,
  );
}
