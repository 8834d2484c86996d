const KEY = 'harkara-docs-key';
/** Test keys alone: what is tried from a page of documentation must neither leave nor cost. */
const TEST_KEY = /^hk_test_[0-9a-z]{26}_[0-9a-f]{64}$/;

/** A form at each sample of a request that a test key may make: it is sent to this gateway, and its answer shown. */
export function addTryForms(): void {
  for (const sample of document.querySelectorAll<HTMLElement>('.sample[data-method]')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy-sample';
    button.textContent = 'Try it';
    button.setAttribute('aria-expanded', 'false');
    let form: HTMLFormElement | undefined;
    button.addEventListener('click', () => {
      form ??= formOf(sample);
      form.hidden = button.getAttribute('aria-expanded') === 'true';
      button.setAttribute('aria-expanded', String(!form.hidden));
      if (!form.hidden) form.querySelector('input')?.focus();
    });
    sample.querySelector('.sample-name')?.append(button);
  }
}

function formOf(sample: HTMLElement): HTMLFormElement {
  const { method = 'GET', path = '', body } = sample.dataset;
  const form = document.createElement('form');
  form.className = 'try';
  const key = field(form, 'Test key', document.createElement('input'));
  key.autocomplete = 'off';
  key.placeholder = 'hk_test_…';
  key.value = sessionStorage.getItem(KEY) ?? '';
  const place = field(form, 'Path', document.createElement('input'));
  place.value = path;
  const content = body === undefined ? undefined : field(form, 'Body', document.createElement('textarea'));
  if (content !== undefined) {
    content.value = body ?? '';
    content.rows = content.value.split('\n').length;
  }
  const send = document.createElement('button');
  send.textContent = 'Send';
  const answer = document.createElement('pre');
  answer.tabIndex = 0;
  answer.setAttribute('role', 'group');
  answer.setAttribute('aria-label', 'Answer');
  answer.setAttribute('aria-live', 'polite');
  answer.hidden = true;
  form.append(send);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const given = key.value.trim();
    send.disabled = true;
    answer.textContent = TEST_KEY.test(given)
      ? await ask(method, place.value, given, content?.value)
      : 'Enter a test key, hk_test_…: the dashboard\nmakes them under API keys.\nA live key is not taken here.';
    answer.hidden = false;
    send.disabled = false;
  });
  sample.append(form, answer);
  return form;
}

function field<Control extends HTMLInputElement | HTMLTextAreaElement>(
  form: HTMLFormElement,
  name: string,
  control: Control,
): Control {
  const label = document.createElement('label');
  label.append(name, control);
  control.spellcheck = false;
  form.append(label);
  return control;
}

async function ask(method: string, path: string, key: string, body: string | undefined): Promise<string> {
  sessionStorage.setItem(KEY, key);
  try {
    const answer = await fetch(new URL(path, location.origin), {
      method,
      credentials: 'omit',
      headers: { Authorization: `Bearer ${key}`, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
      ...(body !== undefined && { body }),
    });
    return `HTTP ${answer.status}\n\n${readable(await answer.text())}`;
  } catch {
    return 'There was no answer. Look at the path and at the connection.';
  }
}

function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
