import { type ReadFile, type ReadFileJob, readTemplateFile } from '../../shared/templates/sms/export/read-file.ts';

/** Runs in a thread (threads.ts). */
export function readTemplates(job: ReadFileJob): ReadFile {
  return readTemplateFile(job);
}
