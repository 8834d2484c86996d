import { filled, type GraphError, type Json, list, object, surplus } from './http.ts';
import { ERRORS } from './magic-customers.ts';
import type { TemplateComponent } from './templates.ts';

const LOCATION = ['latitude', 'longitude', 'name', 'address'];
const MEDIA_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  image: ['id', 'link'],
  video: ['id', 'link'],
  document: ['id', 'link', 'filename'],
};

/**
 * Checks a header of media, a product or a location. Every send must bring one, because the template's own is only an example.
 * check-template.ts checks headers of text.
 */
export function checkHeader(header: Json | undefined, own: TemplateComponent | undefined): GraphError | undefined {
  const [parameter, second] = list(header?.parameters);
  const given = String(parameter?.type ?? 'unknown');
  if (own === undefined) {
    return header === undefined
      ? undefined
      : { ...ERRORS.templateParameters, details: 'header: the template has no header' };
  }
  const { format = 'TEXT' } = own;
  if (format === 'TEXT' && (parameter === undefined || given === 'text')) return undefined;
  const type = format.toLowerCase();
  if (parameter !== undefined && given === type && object(parameter[type]) === undefined) {
    const details = `Parameter '${type}' is mandatory for component parameter type '${type}'`;
    return { ...ERRORS.parameter, details };
  }
  if (given !== type || second !== undefined) {
    const details = `header: Format mismatch, expected ${format}, received ${given.toUpperCase()}`;
    return { ...ERRORS.format, details };
  }
  const odd = surplus(parameter ?? {}, ['type', type]);
  if (odd !== undefined) return { ...ERRORS.parameter, details: `header: unexpected key "${odd}"` };
  const value = object(parameter?.[type]) ?? {};
  if (format === 'PRODUCT') return checkProduct(value);
  return format === 'LOCATION' ? checkLocation(value) : checkMedia(type, value);
}

function checkProduct(product: Json): GraphError | undefined {
  const odd = surplus(product, ['product_retailer_id', 'catalog_id']);
  const good = filled(product.product_retailer_id) && /^\d+$/.test(String(product.catalog_id)) && odd === undefined;
  return good
    ? undefined
    : { ...ERRORS.parameter, details: 'header: product needs product_retailer_id and catalog_id' };
}

function checkMedia(type: string, media: Json): GraphError | undefined {
  const odd = surplus(media, MEDIA_MEMBERS[type] ?? []);
  if (odd !== undefined) return { ...ERRORS.parameter, details: `header: unexpected key "${odd}" in ${type}` };
  if (!filled(media.link) && !filled(media.id)) {
    return { ...ERRORS.templateParameters, details: 'header: Either one of media ID or link must be present' };
  }
  if (media.link !== undefined && !/^https?:\/\/\S+$/.test(String(media.link))) {
    return { ...ERRORS.value, details: `header: ${type}.link must be an address` };
  }
  if (media.filename !== undefined && !filled(media.filename)) {
    return { ...ERRORS.value, details: 'header: document.filename must be a text' };
  }
  return undefined;
}

/** Degrees may be strings, because the documentation's samples have strings. */
function checkLocation(location: Json): GraphError | undefined {
  const missing = LOCATION.find((name) => !filled(location[name])) ?? surplus(location, LOCATION);
  if (missing !== undefined) {
    return { ...ERRORS.parameter, details: `template.components[0].parameters[0].location.${missing}` };
  }
  const degrees = [
    [location.latitude, 90],
    [location.longitude, 180],
  ] as const;
  const bad = degrees.some(
    ([value, most]) => !/^-?\d{1,3}(\.\d+)?$/.test(String(value)) || Math.abs(Number(value)) > most,
  );
  return bad ? { ...ERRORS.value, details: 'header: latitude and longitude must be degrees' } : undefined;
}
