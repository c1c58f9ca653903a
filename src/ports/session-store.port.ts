/** Chat sessions: they group runs and own nothing of them. */
export abstract class SessionStore {
  /** Creates the session when it is new; refuses nothing else. */
  abstract ensure(sessionId: string, at: Date): Promise<void>;
  abstract exists(sessionId: string): Promise<boolean>;
}
