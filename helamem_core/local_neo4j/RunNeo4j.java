import org.neo4j.server.BlockingBootstrapper;
import org.neo4j.server.CommunityBootstrapper;
import org.neo4j.server.NeoBootstrapper;

/** Runs Neo4j Community until it is told to stop; for releases whose jars have no entry point of their own. */
public class RunNeo4j {
    public static void main(String[] arguments) {
        System.exit(NeoBootstrapper.start(new BlockingBootstrapper(new CommunityBootstrapper()), arguments));
    }
}
