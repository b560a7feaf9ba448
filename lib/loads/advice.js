// What the causes of errors mean, and what to do about them.

/** Advice by cause: causes in capitals are the first words of a server's error line, those in small letters are ours. */
export const adviceByCause = new Map(
  Object.entries({
    OOM: 'a server is at its memory limit and evicts nothing; raise maxmemory, shorten lifetimes or write less',
    MOVED: 'slots moved faster than commands could be retried; wait for the resharding to end and repeat',
    ASK: 'slots were under way and their commands could not be sent after them; wait for the resharding to end',
    TRYAGAIN: 'the keys of one command were on both sides of a moving slot; wait for the resharding to end',
    CLUSTERDOWN:
      'the cluster has slots without a master, or a durable one with async refuses writes since its log is 10 s behind; look at CLUSTER INFO or DurabilityLag',
    CROSSSLOT: 'the keys of one command lie in several slots; use --spread or --same-slot',
    READONLY: 'writes went to a replica; name a master in --url, or use --cluster to follow the masters',
    NOSCRIPT: 'the script left the server (SCRIPT FLUSH or a failover); keep others from flushing and repeat',
    LOADING: 'a server was still reading its data set from disk; wait until it is ready and repeat',
    MASTERDOWN: 'a replica had lost its master; wait until the link is up and repeat',
    NOREPLICAS: 'a master had too few good replicas (min-replicas-to-write); bring them back and repeat',
    BUSY: 'a script blocked the server; find it with SLOWLOG GET, or end it with SCRIPT KILL',
    NOAUTH: 'the server wants a password; set --username and --password',
    WRONGPASS: 'the server refused the name or the password; correct --username and --password',
    NOPERM: 'the user may not run these commands or touch these keys; extend its ACL',
    MISCONF: 'the server cannot save its snapshots and refuses writes; mend its disk or its save setting',
    WRONGTYPE: 'a key of ours already holds another type; choose another --prefix or remove that key',
    ERR: 'the server refused the command itself; its log may say why, or its version may not suit the strategy',
    'ERR unknown command':
      'the server lacks a command of this strategy; use a newer server or another --strategy',
    'ERR max clients': 'the server takes no more connections; raise maxclients or close some',
    TIMEOUT: 'no answer came within --with query-timeout; the server goes on with the command all the same',
    WAIT: 'too few replicas, or no disk, confirmed these writes in time: the master has them, and may lose them; look at the replicas',
    UNANSWERED:
      'the client library neither answered nor rejected the command; see its settings, and answerLimit of --driver-option',
    CLOSED:
      'the connection broke before the answer came; see the events, the network, and the server log, which says too when a client was over client-output-buffer-limit',
  }),
)
const unknownCause = 'look the word up in the documentation and the log of the server'

/** @param {string} cause */
export const adviceOf = (cause) => adviceByCause.get(cause) ?? unknownCause
