import { type ReadFile, type ReadFileJob, readTemplateFile } from '../../shared/templates/sms/csv.ts';

/** Runs in a thread of threads.ts. */
export function readTemplates(job: ReadFileJob): ReadFile {
  return readTemplateFile(job);
}
