/**
 * How many gateways run where nobody says a number: one for every two cores, at least one. The store and the workers need the
 * other half. With more gateways each makes smaller groups, and a message costs more CPU (docs/decisions/0091).
 */
export function usualGateways(cores: number): number {
  return Math.max(1, Math.floor(cores / 2));
}
