/** Details of an error of the generateContent API, in the form of `google.rpc`. */

/** How long to wait. */
export function retryIn(seconds: number): object {
  return { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${seconds}s` };
}

/** Which quota is used up. */
export function quotaFailure(quotaId: string): object {
  return { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaId }] };
}
