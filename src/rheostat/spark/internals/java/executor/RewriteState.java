package rheostat;

import java.io.Serializable;
import java.nio.file.CopyOption;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Iterator;
import org.apache.spark.api.java.function.FlatMapFunction;

/**
 * Rewrites groups of partitions without a shuffle. A group is a residue modulo the greatest common divisor of both numbers of partitions:
 * its old partitions contain exactly the rows of its new partitions.
 *
 * <p>Takes a store, its old and new number of partitions, the residue with the divisor, and a slice with the number of slices. A slice is
 * every n-th new partition of the group, so that several tasks can process one group; each reads all of its keys, and copies the rows of
 * its slice. The report of a slice is also written to a file when the slice is committed, so that a restart after a crash skips it.
 */
public final class RewriteState implements FlatMapFunction, Serializable {
    private final StateStores stores;
    private final long batch;
    private final String notes;

    /** ``notes`` is a local folder; empty for no report files. */
    public RewriteState(StateStores stores, long batch, String notes) {
        this.stores = stores;
        this.batch = batch;
        this.notes = notes;
    }

    public Iterator call(Object rows) throws Exception {
        ArrayList report = new ArrayList();
        Iterator groups = (Iterator) rows;
        while (groups.hasNext()) {
            int[] group = (int[]) groups.next();
            ArrayList lines = new ArrayList();
            rewrite(group[0], group[1], group[2], group[3], group[4], group[5], group[6], lines);
            note(group[0], group[3] + (group[6] > 1 ? "." + group[5] + "of" + group[6] : ""), lines);
            report.addAll(lines);
        }
        return report.iterator();
    }

    private void note(int store, String part, ArrayList lines) throws Exception {
        if (notes.isEmpty()) {
            return;
        }
        Path note = Paths.get(notes, new String[] {stores.numbers[store] + "-" + stores.names[store] + "-" + part});
        Path fresh = note.resolveSibling("." + note.getFileName());
        Files.write(fresh, lines, new OpenOption[0]);
        Files.move(fresh, note, new CopyOption[] {StandardCopyOption.ATOMIC_MOVE});
    }

    private void rewrite(int store, int from, int to, int residue, int divisor, int slice, int slices, ArrayList report) throws Exception {
        ArrayList sources = new ArrayList();
        NewState[] targets = new NewState[to / divisor];
        try {
            for (int partition = residue; partition < from; partition += divisor) {
                OpenedState source = new OpenedState(stores, store, partition);
                sources.add(source);
                source.load();
            }
            OpenedState first = (OpenedState) sources.get(0);
            for (int i = 1; i < sources.size(); i++) {
                requireSame(first, (OpenedState) sources.get(i));
            }
            for (int i = slice; i < targets.length; i += slices) {
                targets[i] = new NewState(stores, store, residue + i * divisor, batch, first.rocks(), first.families());
            }
            reportReads(store, from, copy(sources, targets, from, to, residue, divisor), sources, report);
            for (int i = slice; i < targets.length; i += slices) {
                report.add(stores.reportLine("written", store, residue + i * divisor, targets[i].tally, targets[i].commit()));
            }
        } finally {
            for (int i = 0; i < sources.size(); i++) {
                ((OpenedState) sources.get(i)).close();
            }
            for (int i = 0; i < targets.length; i++) {
                if (targets[i] != null) {
                    targets[i].discard();
                }
            }
        }
    }

    private Tally[] copy(ArrayList sources, NewState[] targets, int from, int to, int residue, int divisor) throws Exception {
        Tally[] read = new Tally[sources.size()];
        for (int i = 0; i < read.length; i++) {
            read[i] = new Tally();
        }
        MergedState merged = new MergedState(sources);
        for (OpenedState row = merged.next(); row != null; row = merged.next()) {
            NewState target = targets[(place(row, from, to) - residue) / divisor];
            if (target != null) {
                byte[] value = row.value();
                long hash = Tally.hash(row.key, value);
                read[(row.partition - residue) / divisor].add(row.key.length + value.length, hash);
                target.add(row.key, value, hash);
            }
        }
        return read;
    }

    /** The new partition of a row; a row outside the partition of its hash aborts the job. */
    static int place(OpenedState row, int from, int to) {
        int hash = row.hash();
        if (OpenedState.home(hash, from) != row.partition) {
            throw new IllegalStateException(
                "a row of partition " + row.partition + " belongs to partition " + OpenedState.home(hash, from) + " of " + from);
        }
        return OpenedState.home(hash, to);
    }

    static void requireSame(OpenedState first, OpenedState other) {
        if (first.families() != null && !first.families().toString().equals(other.families().toString())) {
            throw new IllegalStateException(
                "partitions " + first.partition + " and " + other.partition + " number their column families differently");
        }
    }

    private void reportReads(int store, int from, Tally[] read, ArrayList sources, ArrayList report) {
        for (int i = 0; i < read.length; i++) {
            report.add(stores.reportLine("read", store, ((OpenedState) sources.get(i)).partition, read[i], ""));
        }
    }
}
